// @ts-check
// What the browser keeps for the page, where it lets the page keep anything: in a frame on somebody's site it may not.

/**
 * @param {"localStorage" | "sessionStorage"} where
 * @param {string} key
 */
export function recall(where, key) {
  try {
    return window[where].getItem(key);
  } catch {
    return null;
  }
}

/**
 * @param {"localStorage" | "sessionStorage"} where
 * @param {string} key
 * @param {string} value
 */
export function remember(where, key, value) {
  try {
    window[where].setItem(key, value);
  } catch {
    /* then it is forgotten */
  }
}
