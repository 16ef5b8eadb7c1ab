// Settings that uWebSockets.js reads from the environment when it is loaded. Imported by server.ts before the library.

/**
 * The limit for a request's line and headers together. The library's default of 4 KiB is too small for a few cookies
 * of a shared domain, or for an authorization request with all documented parameters; nginx and Node allow 8 and 16.
 */
process.env['UWS_HTTP_MAX_HEADERS_SIZE'] ??= String(16 * 1024);
