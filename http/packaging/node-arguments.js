// What the service asks of Node when it starts, from the sources and in the executable. Plain JavaScript, see start.js.

/**
 * Megabytes. By default V8 lets the space of new objects grow to three times 16 MB, and moves more garbage to the old one.
 * Attacked by every means one after another, the service holds 330 MB instead of 430; saturated by sockets, it answers a
 * tenth fewer calls a second.
 */
export const smallNewSpace = '--max-semi-space-size=4';
