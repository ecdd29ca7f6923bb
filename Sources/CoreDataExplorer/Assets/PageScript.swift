/// The script of all pages. Without it, pages do not follow the store and key paths are not completed;
/// everything else works.
enum PageScript {
  static let text = _live + _completion + _drawings + _keys

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
    for (const field of document.querySelectorAll("[data-complete], [data-pick]")) {
      const list = document.createElement("ul");
      list.className = "options";
      list.id = field.id + "-options";
      list.setAttribute("role", "listbox");
      list.setAttribute("aria-label", "Completions");
      list.hidden = true;
      field.after(list);
      // A field of several lines may not be a combobox.
      const isLine = field.tagName === "INPUT";
      if (isLine) field.setAttribute("role", "combobox");
      const expand = (is) => { if (isLine) field.setAttribute("aria-expanded", String(is)); };
      expand(false);
      field.setAttribute("aria-autocomplete", "list");
      field.setAttribute("aria-controls", list.id);
      let options = [], length = 0, at = -1, request = 0;

      const close = () => {
        list.hidden = true;
        at = -1;
        expand(false);
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
        expand(true);
      };
      const ask = async () => {
        const number = ++request;
        let text = field.value.slice(0, field.selectionStart), path = "/complete?name=" + encodeURIComponent(field.dataset.complete);
        if (field.dataset.pick) {
          text = text.slice(text.lastIndexOf("\n") + 1);
          path = "/pick?name=" + encodeURIComponent(field.dataset.pick);
        }
        const answer = await fetch(path + "&text=" + encodeURIComponent(text));
        if (number === request && answer.ok && document.activeElement === field) open(await answer.json());
      };
      let pause = null;
      field.addEventListener("input", () => {
        clearTimeout(pause);
        pause = setTimeout(() => ask().catch(close), field.dataset.pick ? 200 : 0);
      });
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

  /// Diagrams are zoomed with buttons or ctrl and the wheel, and moved by dragging; a part of the time axis is chosen by dragging.
  private static let _drawings = #"""
    for (const place of document.querySelectorAll(".diagram")) {
      const svg = place.querySelector("svg");
      if (!svg) continue;
      const width = svg.viewBox.baseVal.width || svg.clientWidth, height = svg.viewBox.baseVal.height || svg.clientHeight;
      let scale = 1;
      const zoom = (to, x = place.clientWidth / 2, y = place.clientHeight / 2) => {
        to = Math.min(4, Math.max(0.1, to));
        const left = (place.scrollLeft + x) / scale, top = (place.scrollTop + y) / scale;
        scale = to;
        svg.style.width = width * scale + "px";
        svg.style.height = height * scale + "px";
        place.scrollLeft = left * scale - x;
        place.scrollTop = top * scale - y;
      };
      const tools = document.createElement("div");
      tools.className = "zoom";
      const add = (text, label, act) => {
        const button = document.createElement("button");
        button.type = "button";
        button.textContent = text;
        button.setAttribute("aria-label", label);
        button.addEventListener("click", act);
        tools.append(button);
      };
      add("−", "Smaller", () => zoom(scale / 1.25));
      add("+", "Larger", () => zoom(scale * 1.25));
      add("Fit", "Fit the width", () => zoom((place.clientWidth - 20) / width));
      add("1:1", "Original size", () => zoom(1));
      place.before(tools);
      place.addEventListener("wheel", (event) => {
        if (!event.ctrlKey) return;
        event.preventDefault();
        const box = place.getBoundingClientRect();
        zoom(scale * (event.deltaY < 0 ? 1.1 : 1 / 1.1), event.clientX - box.left, event.clientY - box.top);
      }, { passive: false });
      let from = null;
      place.addEventListener("pointerdown", (event) => {
        if (event.button === 0 && !event.target.closest("a")) from = [event.clientX, event.clientY];
      });
      addEventListener("pointermove", (event) => {
        if (!from) return;
        place.scrollLeft -= event.clientX - from[0];
        place.scrollTop -= event.clientY - from[1];
        from = [event.clientX, event.clientY];
      });
      addEventListener("pointerup", () => { from = null; });
    }
    for (const figure of document.querySelectorAll("[data-axis]")) {
      const svg = figure.querySelector("svg"), begin = Number(figure.dataset.begin), end = Number(figure.dataset.end);
      const part = (event) => {
        const box = svg.getBoundingClientRect();
        return Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
      };
      let from = null, rect = null, dragged = false;
      svg.addEventListener("pointerdown", (event) => { if (event.button === 0) { from = part(event); dragged = false; } });
      svg.addEventListener("dragstart", (event) => event.preventDefault());
      addEventListener("pointermove", (event) => {
        if (from === null) return;
        const to = part(event);
        if (Math.abs(to - from) < 0.01) return;
        dragged = true;
        if (!rect) {
          rect = document.createElementNS("http://www.w3.org/2000/svg", "rect");
          rect.setAttribute("class", "picked");
          rect.setAttribute("y", "0");
          rect.setAttribute("height", "64");
          svg.append(rect);
        }
        const width = svg.viewBox.baseVal.width;
        rect.setAttribute("x", String(Math.min(from, to) * width));
        rect.setAttribute("width", String(Math.abs(to - from) * width));
      });
      addEventListener("pointerup", (event) => {
        if (from === null) return;
        const to = part(event), first = Math.min(from, to), last = Math.max(from, to);
        from = null;
        rect?.remove();
        rect = null;
        if (!dragged) return;
        const moment = (at) => new Date((begin + (end - begin) * at + 978307200) * 1000).toISOString();
        const query = new URLSearchParams({ from: moment(first), to: moment(last) });
        if (figure.dataset.entity) query.set("entity", figure.dataset.entity);
        location.href = "/timeline?" + query;
      });
      // The link under the end of a selection is not followed.
      svg.addEventListener("click", (event) => { if (dragged) event.preventDefault(); }, true);
    }

    """#

  /// Keys: '/' focuses the filter, arrows switch to adjacent pages.
  private static let _keys = #"""
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.target.closest("input, textarea, select")) return;
      if (event.key === "/") {
        const field = document.getElementById("where") || document.getElementById("find");
        if (field) { event.preventDefault(); field.focus(); field.select(); }
      } else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
        if (event.target.closest("[tabindex], pre")) return;
        document.querySelector(event.key === "ArrowLeft" ? "a[rel=prev]" : "a[rel=next]")?.click();
      }
    });

    """#
}
