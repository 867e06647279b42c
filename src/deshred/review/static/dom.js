// Elements without markup: text from files and people is only ever a text node.

/** @param {string} tag @param {Record<string, any>} [props] @param {...any} children */
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else if (name === "text") element.textContent = value;
    else if (value === true) element.setAttribute(name, "");
    else element.setAttribute(name, String(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Put children in the place of all that is there; focus stays on the element of the same id. */
export function fill(parent, ...children) {
  const id = parent.contains(document.activeElement) ? document.activeElement.id : "";
  parent.replaceChildren(...children.flat(Infinity).filter(Boolean));
  if (id) document.getElementById(id)?.focus({ preventScroll: true });
}

/** A button that names its key. */
export function button(label, key, act, props = {}) {
  return h("button", { type: "button", onclick: act, "aria-keyshortcuts": key || undefined, ...props }, label, key ? h("kbd", {}, shown(key)) : null);
}

export function shown(key) {
  if (key === " ") return "Space";
  return key.replace("Control", "Ctrl").replace("ArrowUp", "↑").replace("ArrowDown", "↓").replace("ArrowLeft", "←").replace("ArrowRight", "→").replace("Escape", "Esc");
}

export function say(text) {
  const live = document.getElementById("live");
  live.textContent = "";
  requestAnimationFrame(() => (live.textContent = text));
}
