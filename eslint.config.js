// How the page's JavaScript is judged: eslint's own rules, and a few that catch what they do not.

import js from "@eslint/js";
import globals from "globals";

export default [
  { ignores: ["**/*", "!src/", "!src/mercer/", "!src/mercer/studio/", "!src/mercer/studio/page/**"] },
  { ignores: ["**/vendor/**"] },
  js.configs.recommended,
  {
    files: ["src/mercer/studio/page/**/*.js"],
    languageOptions: { ecmaVersion: 2023, sourceType: "module", globals: { ...globals.browser, uPlot: "readonly" } },
    rules: {
      eqeqeq: "error",
      "no-implicit-globals": "error",
      "no-shadow": "error",
      "no-unused-vars": ["error", { argsIgnorePattern: "^_", ignoreRestSiblings: true }],
      "no-var": "error",
      "prefer-const": "error",
    },
  },
];
