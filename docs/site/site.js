// The theme, the menu, copy buttons and the search. Without this script the pages are
// complete, but for these.
"use strict";
(() => {
  const html = document.documentElement;
  html.classList.add("script");
  const stored = () => { try { return localStorage.getItem("theme"); } catch { return null; } };
  if (stored()) html.dataset.theme = stored();

  function theme() {
    const dark = matchMedia("(prefers-color-scheme: dark)");
    document.querySelector(".theme").addEventListener("click", () => {
      html.dataset.theme = (html.dataset.theme ?? (dark.matches ? "dark" : "light")) === "dark" ? "light" : "dark";
      try { localStorage.setItem("theme", html.dataset.theme); } catch { /* this page only */ }
    });
  }

  function menu() {
    const nav = document.getElementById("nav"), button = document.querySelector(".menu");
    const set = open => { nav.classList.toggle("open", open); button.setAttribute("aria-expanded", open); };
    button.addEventListener("click", () => set(!nav.classList.contains("open")));
    nav.addEventListener("keydown", e => { if (e.key === "Escape") { set(false); button.focus(); } });
    const current = nav.querySelector("[aria-current]");
    if (current) nav.scrollTop = current.offsetTop - nav.clientHeight / 2;
  }

  // Of a session, the commands are copied; of other code, all.
  function copying() {
    for (const block of document.querySelectorAll(".code")) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "copy";
      button.textContent = "Copy";
      button.setAttribute("aria-live", "polite");
      button.addEventListener("click", async () => {
        const commands = [...block.querySelectorAll(".prompt ~ b")].map(b => b.textContent);
        try {
          await navigator.clipboard.writeText((commands.length ? commands.join("\n") : block.querySelector("code").textContent) + "\n");
          button.textContent = "Copied";
        } catch { button.textContent = "Not allowed"; }
        button.classList.add("done");
        setTimeout(() => { button.textContent = "Copy"; button.classList.remove("done"); }, 1500);
      });
      block.append(button);
    }
  }

  // The section that is read is marked in the contents.
  function contents() {
    const details = document.querySelector(".contents details");
    if (!details) return;
    if (matchMedia("(max-width: 75rem)").matches) details.open = false;
    const links = new Map([...details.querySelectorAll("a")].map(a => [decodeURIComponent(a.hash.slice(1)), a]));
    const headings = [...document.querySelectorAll(".text :is(h2, h3)[id]")].filter(h => links.has(h.id));
    const mark = () => {
      const above = headings.filter(h => h.getBoundingClientRect().top < 120);
      links.forEach(a => a.classList.remove("here"));
      if (above.length) links.get(above.at(-1).id).classList.add("here");
    };
    addEventListener("scroll", mark, { passive: true });
    mark();
  }

  let loading;
  function index() {
    loading ??= new Promise((done, failed) => {
      const script = document.createElement("script");
      script.src = html.dataset.root + "search.js";
      script.onload = () => done(prepare(window.searchIndex));
      script.onerror = () => failed(new Error("search.js is missing"));
      document.head.append(script);
    });
    return loading;
  }
  function prepare({ pages, sections }) {
    return sections.map(([page, anchor, heading, text]) => {
      const [url, title, drawer] = pages[page];
      return { url: `${url}#${anchor}`, title, drawer, heading, text, names: [title.toLowerCase(), heading.toLowerCase()], low: text.toLowerCase() };
    });
  }
  // The words of a query, without endings: throttled finds throttling.
  const stems = query => (query.toLowerCase().match(/[^\s"'`,]+/g) ?? []).map(w => w.replace(/^([\p{L}]{4,})(?:ings?|ed|es|s)$/u, "$1"));
  // Each word of the query must be in a section. It counts more in a name, and the fewer
  // sections have it. Evidence counts half.
  function find(sections, query) {
    const words = stems(query);
    const weight = new Map(words.map(w => [w, Math.log(1 + sections.length / (1 + sections.filter(s => s.low.includes(w)).length))]));
    const score = s => {
      let sum = 0;
      for (const word of words) {
        const begins = text => (" " + text.replace(/[^\p{L}\p{N}]+/gu, " ")).includes(" " + word);
        const own = s.low.split(word).length - 1;
        const one = [0, 1].reduce((n, i) => n + (begins(s.names[i]) ? 10 : s.names[i].includes(word) ? 4 : 0), Math.min(own, 4));
        if (!one) return 0;
        sum += one * weight.get(word);
      }
      if (words.length > 1 && (s.low + s.names.join(" ")).includes(words.join(" "))) sum += 8;
      return s.drawer === "Evidence" ? sum / 2 : sum;
    };
    return words.length ? sections.map(s => [score(s), s]).filter(([n]) => n).sort((a, b) => b[0] - a[0]).map(([, s]) => s) : [];
  }
  function snippet(section, words) {
    const longest = [...words].sort((a, b) => b.length - a.length).find(w => section.low.includes(w)) ?? "";
    const from = Math.max(0, section.text.lastIndexOf(" ", Math.max(0, section.low.indexOf(longest) - 50)));
    const text = (from ? "…" : "") + section.text.slice(from, from + 170).trim() + (section.text.length > from + 170 ? "…" : "");
    const span = document.createElement("span");
    const escaped = words.map(w => w.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    text.split(new RegExp(`((?:${escaped.join("|")})[\\p{L}]*)`, "iu")).forEach((part, i) => {
      const node = i % 2 ? document.createElement("mark") : document.createTextNode("");
      node.textContent = part;
      span.append(node);
    });
    return span;
  }
  function show(list, query, all) {
    const words = stems(query);
    const shown = all.slice(0, 20);
    document.getElementById("count").textContent = !all.length ? `Nothing found for ${query}` : all.length > 20 ? `The first 20 of ${all.length} sections` : all.length === 1 ? "1 section" : `${all.length} sections`;
    list.replaceChildren(...shown.map(s => {
      const item = document.createElement("li"), a = document.createElement("a"), name = document.createElement("strong"), place = document.createElement("small");
      a.href = html.dataset.root + s.url;
      name.textContent = s.heading;
      place.textContent = [s.drawer, s.title === s.heading ? "" : s.title].filter(Boolean).join(" · ");
      a.append(name, place, snippet(s, words));
      item.append(a);
      return item;
    }));
  }
  function search() {
    const form = document.querySelector(".search"), input = form.querySelector("input"), box = document.getElementById("results"), list = box.querySelector("ol");
    const run = async () => {
      const query = input.value.trim();
      if (!query) { box.hidden = true; return; }
      const sections = await index();
      if (query !== input.value.trim()) return; // another one was typed meanwhile
      show(list, query, find(sections, query));
      box.hidden = false;
    };
    input.addEventListener("focus", () => { index(); run(); });
    input.addEventListener("input", run);
    form.addEventListener("submit", e => { e.preventDefault(); list.querySelector("a")?.click(); });
    form.addEventListener("keydown", e => {
      const links = [...list.querySelectorAll("a")], at = links.indexOf(document.activeElement);
      if (e.key === "Escape") { box.hidden = true; input.blur(); }
      if (e.key !== "ArrowDown" && e.key !== "ArrowUp" || box.hidden) return;
      e.preventDefault();
      (links[at + (e.key === "ArrowDown" ? 1 : -1)] ?? input).focus();
    });
    list.addEventListener("click", () => { box.hidden = true; });
    document.addEventListener("click", e => { if (!form.contains(e.target)) box.hidden = true; });
    document.addEventListener("keydown", e => {
      if (e.key === "/" && !/^(input|textarea)$/i.test(document.activeElement.tagName)) { e.preventDefault(); input.focus(); }
    });
  }
  addEventListener("DOMContentLoaded", () => { theme(); menu(); copying(); contents(); search(); });
})();
