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
  clashHelp: "Nothing was changed. Take back one of the older ones to keep what you said, or close this to leave all as it was.",
  refusedHelp: "No order obeys all of these. Take back the one that is wrong.",
  showClash: "Show what is at odds",
  dropOld: "Take this back, keep mine",
  justNow: "what you just said",
  givenBefore: "given with --constraints",
  entry: (number) => `entry ${number}`,
  said: { join: "joined", "no-join": "no join", first: "begins a page", last: "ends a page", "not-first": "goes on at the left", "not-last": "goes on at the right", aside: "set aside", flipped: "upside down", gap: "something missing", blank: "blank placed", offset: "moved", title: "title", note: "note", "cannot-tell": "cannot tell", looked: "looked at", done: "page done", together: "on one page", apart: "on different pages" },
  offer: (n) => `A better order would change ${count(n, "other page")}: take it`,
  offerWhy: "It is not proven, and nobody has spoken of those pages: nothing moves until you say so.",
  taken: "Taken.",
  dispute: "Two people do not agree",
  disputeWhy: "One of these is wrong. Look at the paper: which one holds?",
  thisOne: "This one holds",
  settled: "Settled.",
  restarted: "The board was started again. Open its new link in this browser: this tab then goes on by itself, and what you did is kept.",
  sentLate: (n) => `${count(n, "statement")} from before the board was gone: sent.`,
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
