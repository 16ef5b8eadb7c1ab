// How many batches of conversations are imported and wait. Each waits with its body of at most a mebibyte, so one of a
// workspace does.

export const importedBatches = { atOnce: 2, atOncePerSender: 1, perSender: 2, waiting: 16 };
