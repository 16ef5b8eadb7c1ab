// What uWebSockets.js is told before it is loaded, which is when it reads it: imported by server.ts before the library
// itself.

/**
 * Of a request's line and headers together. The library's own 4 KiB is less than a few cookies of a shared domain, or
 * an authorization request of its documented lengths; nginx and Node take 8 and 16.
 */
process.env['UWS_HTTP_MAX_HEADERS_SIZE'] ??= String(16 * 1024);
