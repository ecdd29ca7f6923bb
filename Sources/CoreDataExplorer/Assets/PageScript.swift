/// The script of all pages. Without it, pages do not follow the store and key paths are not completed;
/// everything else works.
enum PageScript {
  static let text = _live + _completion + _keys

  /// Reloads the page when the store has changed, and highlights changes.
  private static let _live = #"""
    "use strict";
    (() => {
      const main = document.getElementById("main");
      const sign = document.getElementById("live");
      if (!main || !sign || main.dataset.live === undefined) return;
      let time = main.dataset.live, source = null, paused = false, waiting = null, busy = false, again = false;

      const show = (text, on) => {
        sign.hidden = false;
        sign.textContent = text;
        sign.setAttribute("aria-pressed", String(on));
        sign.classList.toggle("off", !on);
      };
      const rows = (root) => {
        const found = new Map();
        for (const row of root.querySelectorAll("[data-row]")) found.set(row.dataset.row, row.textContent);
        return found;
      };
      const mark = (before, root) => {
        let fresh = 0, altered = 0;
        for (const row of root.querySelectorAll("[data-row]")) {
          const was = before.get(row.dataset.row);
          if (was === undefined) { row.classList.add("new"); fresh += 1; }
          else if (was !== row.textContent) { row.classList.add("changed"); altered += 1; }
        }
        return [fresh, altered];
      };
      // Do not replace forms: the user may be typing.
      const exchange = (old, fresh) => {
        const olds = [...old.children], news = [...fresh.children];
        if (olds.length !== news.length || olds.some((child, i) => child.tagName !== news[i].tagName)) {
          if (!old.querySelector("form")) { old.replaceChildren(...news); return true; }
          return false;
        }
        olds.forEach((child, i) => {
          if (child.tagName === "FORM" || child.isEqualNode(news[i])) return;
          if (child.tagName === "DETAILS") news[i].open = child.open;
          const x = child.scrollLeft, y = child.scrollTop;
          child.replaceWith(news[i]);
          news[i].scrollLeft = x;
          news[i].scrollTop = y;
        });
        return true;
      };
      const refresh = async () => {
        if (busy) { again = true; return; }
        busy = true;
        try {
          const answer = await fetch(location.href, { credentials: "same-origin" });
          if (answer.status === 401) { stop("ended"); return; }
          const page = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("main");
          if (!page) return;
          const before = rows(main);
          const focused = document.activeElement, href = focused && main.contains(focused) ? focused.getAttribute("href") : null;
          if (exchange(main, page)) {
            const [fresh, altered] = mark(before, main);
            if (fresh + altered > 0) show(`Live: ${fresh} new, ${altered} changed`, true);
            if (href && !main.contains(focused)) main.querySelector(`a[href="${CSS.escape(href)}"]`)?.focus();
          }
        } catch {
          // The server has gone; the event source says so.
        } finally {
          busy = false;
          if (again) { again = false; later(); }
        }
      };
      const later = () => {
        if (waiting !== null) return;
        waiting = setTimeout(() => { waiting = null; refresh(); }, 150);
      };
      const start = () => {
        if (source || paused || document.hidden) return;
        source = new EventSource("/events?since=" + encodeURIComponent(time));
        source.onopen = () => show("Live", true);
        source.onmessage = (event) => { time = event.data; later(); };
        source.onerror = () => {
          if (!source) return;
          show("Not connected", false);
          // Refused, as when too many pages follow the store: a browser does not try again by itself.
          if (source.readyState === EventSource.CLOSED) { source = null; setTimeout(start, 30000); }
        };
      };
      const stop = (text) => {
        if (source) source.close();
        source = null;
        show(text, false);
      };
      sign.addEventListener("click", () => {
        paused = !paused;
        if (paused) stop("Paused"); else start();
      });
      // A browser opens few connections to one host: hidden pages close theirs.
      document.addEventListener("visibilitychange", () => {
        if (document.hidden) { if (source) source.close(); source = null; } else start();
      });
      addEventListener("pagehide", () => { if (source) source.close(); source = null; });
      start();
    })();

    """#

  /// Completes key paths in the filter.
  private static let _completion = #"""
    for (const field of document.querySelectorAll("input[data-complete]")) {
      const list = document.createElement("ul");
      list.className = "options";
      list.id = field.id + "-options";
      list.setAttribute("role", "listbox");
      list.setAttribute("aria-label", "Completions");
      list.hidden = true;
      field.after(list);
      field.setAttribute("role", "combobox");
      field.setAttribute("aria-expanded", "false");
      field.setAttribute("aria-autocomplete", "list");
      field.setAttribute("aria-controls", list.id);
      let options = [], length = 0, at = -1, request = 0;

      const close = () => {
        list.hidden = true;
        at = -1;
        field.setAttribute("aria-expanded", "false");
        field.removeAttribute("aria-activedescendant");
      };
      const choose = (index) => {
        at = index;
        [...list.children].forEach((item, i) => item.setAttribute("aria-selected", String(i === at)));
        if (at < 0) { field.removeAttribute("aria-activedescendant"); return; }
        field.setAttribute("aria-activedescendant", list.children[at].id);
        list.children[at].scrollIntoView({ block: "nearest" });
      };
      const take = (index) => {
        const end = field.selectionStart, start = end - length;
        field.setRangeText(options[index].text, start, end, "end");
        close();
        field.focus();
      };
      const open = (answer) => {
        options = answer.options;
        length = answer.length;
        list.replaceChildren(...options.map((option, i) => {
          const item = document.createElement("li"), kind = document.createElement("span");
          item.id = list.id + "-" + i;
          item.setAttribute("role", "option");
          item.setAttribute("aria-selected", "false");
          item.textContent = option.text;
          kind.textContent = option.kind;
          item.append(kind);
          item.addEventListener("mousedown", (event) => { event.preventDefault(); take(i); });
          return item;
        }));
        if (options.length === 0) { close(); return; }
        at = -1;
        list.hidden = false;
        field.setAttribute("aria-expanded", "true");
      };
      const ask = async () => {
        const number = ++request;
        const text = field.value.slice(0, field.selectionStart);
        const answer = await fetch("/complete?name=" + encodeURIComponent(field.dataset.complete) + "&text=" + encodeURIComponent(text));
        if (number === request && answer.ok && document.activeElement === field) open(await answer.json());
      };
      field.addEventListener("input", () => { ask().catch(close); });
      field.addEventListener("blur", close);
      field.addEventListener("keydown", (event) => {
        if (event.key === " " && event.ctrlKey) { event.preventDefault(); ask().catch(close); return; }
        if (list.hidden) return;
        if (event.key === "ArrowDown") { event.preventDefault(); choose((at + 1) % options.length); }
        else if (event.key === "ArrowUp") { event.preventDefault(); choose((at + options.length - 1) % options.length); }
        else if ((event.key === "Enter" || event.key === "Tab") && at >= 0) { event.preventDefault(); take(at); }
        else if (event.key === "Escape") { event.preventDefault(); close(); }
      });
    }

    """#

  /// Keys: '/' focuses the filter, arrows switch to adjacent pages.
  private static let _keys = #"""
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.target.closest("input, textarea, select")) return;
      if (event.key === "/") {
        const field = document.getElementById("where");
        if (field) { event.preventDefault(); field.focus(); field.select(); }
      } else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
        if (event.target.closest("[tabindex], pre")) return;
        document.querySelector(event.key === "ArrowLeft" ? "a[rel=prev]" : "a[rel=next]")?.click();
      }
    });

    """#
}
