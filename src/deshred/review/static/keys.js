// One table of keys. A letter counts by what it says where it is Latin, by its place on the keyboard elsewhere.

export const TABLE = {
  everywhere: [
    ["?", "help", "All keys"],
    ["Control+z", "undo", "Undo"],
    ["Control+Shift+z", "redo", "Redo"],
    ["Control+y", "redo", "Redo"],
    ["Control+e", "export", "Export the result"],
    ["Control+Enter", "take", "Accept the better order that was found"],
    ["Control+s", "saved", "Save (not needed: everything is saved)"],
    ["/", "search", "Search"],
    ["Alt+1", "go-overview", "Pages"],
    ["Alt+2", "go-questions", "Questions"],
    ["Alt+3", "go-page", "One page"],
    ["Alt+4", "go-trays", "Trays"],
    ["Alt+5", "go-history", "History"],
    ["Escape", "back", "Back"],
  ],
  overview: [
    ["ArrowLeft", "left", "Previous page"],
    ["ArrowRight", "right", "Next page"],
    ["ArrowUp", "up", "Page above"],
    ["ArrowDown", "down", "Page below"],
    ["PageDown", "more", "More pages"],
    ["Enter", "open", "Open the page"],
    ["l", "done", "Page is whole and correct"],
    ["[", "on-left", "Continues on the left"],
    ["]", "on-right", "Continues on the right"],
    ["r", "title", "Title"],
  ],
  questions: [
    ["1", "take-1", "That one"],
    ["2", "take-2", "That one"],
    ["3", "take-3", "That one"],
    ["4", "take-4", "That one"],
    ["5", "take-5", "That one"],
    ["6", "take-6", "That one"],
    ["Enter", "as-is", "As it is"],
    ["x", "none", "None of these"],
    ["e", "end", "The page ends here"],
    ["q", "cannot-tell", "Cannot tell"],
    [" ", "later", "Later"],
    ["Backspace", "last", "Undo the last answer"],
    ["w", "why", "Why"],
    ["o", "open", "Open on its page"],
  ],
  page: [
    ["ArrowLeft", "left", "Previous shred"],
    ["ArrowRight", "right", "Next shred"],
    ["p", "pin", "Pin the join"],
    ["u", "unpin", "Unpin"],
    ["x", "forbid", "No join"],
    ["s", "end", "Page ends after this shred"],
    ["a", "begin", "Page begins with this shred"],
    ["m", "move", "Pick up; press again to put it after the selected shred"],
    ["k", "mark", "Mark or unmark"],
    ["y", "together", "Marked shreds lie on one page"],
    ["v", "apart", "Marked shreds lie on different pages"],
    ["<", "on-left", "Page continues on the left"],
    [">", "on-right", "Page continues on the right"],
    ["r", "title", "Title"],
    ["c", "candidates", "Candidates to the right"],
    ["Shift+c", "candidates-left", "Candidates to the left"],
    ["w", "why", "Why"],
    ["f", "flip", "Upside down"],
    ["t", "aside", "Set aside"],
    ["g", "gap", "Paper is missing here"],
    ["b", "blank", "Insert a blank shred"],
    ["d", "cannot-tell", "Cannot tell"],
    ["n", "note", "Note"],
    ["l", "done", "Page is whole and correct"],
    ["Alt+ArrowUp", "up-1", "Right-hand shred 1 px up"],
    ["Alt+ArrowDown", "down-1", "Right-hand shred 1 px down"],
    ["Alt+Shift+ArrowUp", "up-10", "10 px up"],
    ["Alt+Shift+ArrowDown", "down-10", "10 px down"],
    ["[", "previous", "Previous page"],
    ["]", "next", "Next page"],
    ["+", "larger", "Larger"],
    ["-", "smaller", "Smaller"],
    ["0", "fit", "Fit"],
    ["z", "real", "Actual size"],
    ["h", "signs", "Show or hide signs"],
    ["i", "solo", "Show this shred alone"],
  ],
  trays: [],
  history: [["c", "check", "Check the journal"]],
};

const PLAIN = "\\[]-=/";
const CODES = { Minus: "-", Equal: "+", Slash: "/", BracketLeft: "[", BracketRight: "]" };

/** The name of the key that was pressed, as the table has it. */
export function nameOf(event) {
  let key = event.key;
  if (key.length === 1 && !/[\x20-\x7e]/.test(key)) {
    if (event.code.startsWith("Key")) key = event.code.slice(3).toLowerCase();
    else if (CODES[event.code]) key = CODES[event.code];
  }
  if (key.length === 1 && /[A-Z]/.test(key)) key = key.toLowerCase();
  if (key === "=" && !event.ctrlKey) key = "+";
  const isSign = key.length === 1 && /[^a-z0-9 ]/.test(key) && !PLAIN.includes(key);
  const parts = [];
  if (event.ctrlKey || event.metaKey) parts.push("Control");
  if (event.altKey) parts.push("Alt");
  if (event.shiftKey && !isSign) parts.push("Shift");
  return [...parts, key].join("+");
}

/** What a key means on a screen; nothing while somebody types. */
export function actionFor(event, screen) {
  const target = event.target;
  const types = target instanceof HTMLElement && target.matches("input, textarea, select");
  const name = nameOf(event);
  if (types && name !== "Escape" && !name.startsWith("Control+")) return null;
  if ((name === "Enter" || name === " ") && target instanceof HTMLElement && target.matches("button, a, summary")) return null;
  const found = [...(TABLE[screen] ?? []), ...TABLE.everywhere].find(([key]) => key === name);
  return found ? found[1] : null;
}

export const keyFor = (screen, action) => (TABLE[screen].find(([, name]) => name === action) ?? TABLE.everywhere.find(([, name]) => name === action) ?? [""])[0];
