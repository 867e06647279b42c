// All words of the board. Left and right are of the paper and never mirrored.

const plural = new Intl.PluralRules("en");
const number = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
export const count = (n, noun, many = `${noun}s`) => `${number.format(n)} ${plural.select(n) === "one" ? noun : many}`;
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
  export: "Export result",
  takeBack: "Undo",
  doAgain: "Redo",
  takenBack: "Undone.",
  doneAgain: "Redone.",
  nothingToTakeBack: "There is nothing left to undo or redo.",
  allKeys: "All keys",
  space: "Space",
  search: "Search shreds, files, titles and notes",
  close: "Close",
  tally: "Joins: ● sure, ◆ likely, ▲ worth a look, ■ decided by people",
  saved: (head) => `All saved · ${head.slice(0, 8)}`,
  savedAll: "No need to save: every answer is already on disk.",
  notConnected: "Not connected",
  gone: "The board has stopped. Everything you did is saved. Trying to reconnect …",
  locked: "This board is locked",
  lockedWhy: "Its link works only once. Run deshred review again, or go back to the tab that is already open.",
  writing: "Writing pages and report …",
  written: (folder) => `Written to ${folder} in the case folder.`,
  clash: "This contradicts something said earlier",
  clashHelp: "Nothing has changed. Undo one of the earlier statements to keep yours, or close this to leave everything as it was.",
  refusedHelp: "No order fits all of these. Undo the one that is wrong.",
  showClash: "Show the contradiction",
  dropOld: "Undo this one, keep mine",
  justNow: "what you just said",
  givenBefore: "given with --constraints",
  entry: (number) => `entry ${number}`,
  said: { join: "joined", "no-join": "not joined", first: "begins a page", last: "ends a page", "not-first": "page continues on the left", "not-last": "page continues on the right", aside: "set aside", flipped: "upside down", gap: "paper missing, in mm:", blank: "blank shred placed", offset: "shifted, in px:", title: "title", note: "note", "cannot-tell": "cannot tell", looked: "looked at", done: "page done", together: "on one page", apart: "on different pages" },
  action: { answer: "answer", control: "asked again", kept: "confirmed", undo: "undo", redo: "redo", pin: "pin", unpin: "unpin", forbid: "no join", end: "page ends", begin: "page begins", "goes-on": "page continues", move: "move", flip: "turn", "turn-back": "turn back", aside: "set aside", "put-back": "put back", gap: "gap", blank: "blank shred", "take-out": "take out", offset: "shift", title: "title", note: "note", "cannot-tell": "cannot tell", together: "same page", apart: "different pages", "take-back": "withdraw", done: "page done", settle: "settle" },
  offer: (n) => `Better order found (${count(n, "other page")} would change)`,
  offerWhy: "It is not proven to be the best, and it changes pages that nobody has touched. Nothing moves until you accept it.",
  taken: "The better order is now shown.",
  dispute: "Two reviewers disagree",
  disputeWhy: "One of these is wrong. Which one is right?",
  thisOne: "This one is right",
  settled: "Settled.",
  restarted: "The board has been restarted. Open its new link in this browser and this tab will carry on. Nothing you did is lost.",
  sentLate: (n) => `${count(n, "statement")} that had been waiting ${n === 1 ? "was" : "were"} sent.`,
  proof: (proof) => {
    if (proof.state === "solving") return "solving …";
    if (proof.state === "refused") return "contradiction";
    return proof.state === "proven" ? "proven optimal" : `best found so far (at most ${number.format(proof.gap)} nats from the best)`;
  },
  outlook: (outlook, time) => (outlook.questions ? `About ${count(Math.max(1, Math.round(outlook.wrong)), "wrong join")} left; ${count(outlook.questions, "question")}, ${time(outlook.seconds)}.` : "No questions left that are worth asking."),
  welcome: "Welcome",
  welcomeSteps: ["Answer questions. The most useful ones come first.", "Open a page to correct it yourself.", "You can't break anything: every answer is saved at once, and Ctrl+Z undoes it."],
  verdict: { sure: "sure", likely: "likely", open: "worth a look" },
  sign: { sure: "●", likely: "◆", open: "▲", person: "■" },
  state: { open: "", looked: "looked at", done: "done", aside: "set aside" },
};
