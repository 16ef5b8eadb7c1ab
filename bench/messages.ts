// The message that every bench sends, so that service and reference write and answer the same sizes.

export const messageText = 'Thank you, I have looked into it: your parcel left our warehouse this morning.';
