// @ts-check
// Before anything is painted: the theme that was chosen last, or what the system prefers.
(() => {
  let chosen = null;
  try {
    chosen = localStorage.getItem("mercer-theme");
  } catch {
    /* storage may be off */
  }
  const dark = chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
})();
