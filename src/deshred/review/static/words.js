// All words of the board. Left and right are of the paper and never mirrored.

const plural = new Intl.PluralRules("en");
const number = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
export const count = (n, noun) => `${number.format(n)} ${noun}${plural.select(n) === "one" ? "" : "s"}`;
export const percent = (p) => (p === null || p === undefined ? "–" : p > 0.999 ? "> 99.9 %" : `${number.format(100 * p)} %`);
export const minutes = (seconds) => (seconds < 90 ? count(Math.max(1, Math.round(seconds)), "second") : count(Math.round(seconds / 60), "minute"));

export const words = {
  screens: { overview: "Pages", questions: "Questions", page: "Page", trays: "Trays", history: "History" },
  everywhere: "Everywhere",
  somebody: "reviewer",
  you: "You",
  yourName: "your name",
  page: (n) => `Page ${n}`,
  blank: "blank",
  export: "Write result",
  takeBack: "Take back",
  doAgain: "Do again",
  takenBack: "Taken back.",
  doneAgain: "Done again.",
  nothingToTakeBack: "There is nothing to take back.",
  allKeys: "All keys",
  space: "Space",
  search: "Search for a shred, a file or a note",
  close: "Close",
  tally: "Joins: ● sure, ◆ likely, ▲ open, ■ decided by people",
  saved: (head) => `All saved · ${head.slice(0, 8)}`,
  savedAll: "There is nothing to save: every answer is on disk already.",
  notConnected: "Not connected",
  gone: "The board's server is gone. What you have done is saved. Trying again …",
  locked: "This board is locked",
  lockedWhy: "Its link works once, in one browser. Start deshred review again, or go back to the tab that is open.",
  writing: "Writing pages and report …",
  written: (folder) => `Written to ${folder} in the case.`,
  clash: "That contradicts what was said before",
  clashHelp: "Nothing was changed. Take back one of these in the history, then try again.",
  constraint: { required: "pinned", forbidden: "no join", first: "begins a page", last: "ends a page", not_first: "goes on at the left", not_last: "goes on at the right", together: "on one page", apart: "on different pages" },
  proof: (proof) => {
    if (proof.state === "solving") return "solving …";
    if (proof.state === "refused") return "no order obeys all of this";
    return proof.state === "proven" ? "proven optimal" : `best known, gap ${number.format(proof.gap)}`;
  },
  outlook: (outlook, time) => (outlook.questions ? `About ${count(Math.max(1, Math.round(outlook.wrong)), "wrong join")} left; ${count(outlook.questions, "question")}, ${time(outlook.seconds)}.` : "Nothing left that is worth asking."),
  welcome: "Welcome",
  welcomeSteps: ["Answer questions: the ones that help most come first.", "Open a page to correct it yourself.", "Nothing can be broken: Ctrl+Z takes back everything, and every answer is saved at once."],
  verdict: { sure: "sure", likely: "likely", open: "worth a look" },
  sign: { sure: "●", likely: "◆", open: "▲", person: "■" },
  state: { open: "", looked: "looked at", done: "done", aside: "set aside" },
};
