// SPDX-License-Identifier: Apache-2.0
// Comfort only; every page works without it. Copy buttons, this site's address in commands, and boards that sort and
// turn their pages without being loaded whole.
"use strict";
(() => {
    function prepareCommands(root) {
        for (const box of root.querySelectorAll(".command")) {
            const code = box.querySelector("code");
            if (!code || box.classList.contains("with-copy")) continue;
            // Behind a proxy the server may not know the name that people use.
            const printed = document.body.dataset.address;
            if (printed && printed !== location.origin) code.textContent = code.textContent.replaceAll(printed, location.origin);
            if (!navigator.clipboard) continue;
            const button = document.createElement("button");
            button.type = "button";
            button.className = "copy";
            button.textContent = "Copy";
            button.addEventListener("click", async () => {
                try {
                    await navigator.clipboard.writeText(code.textContent);
                    button.textContent = "Copied";
                } catch {
                    button.textContent = "Could not copy";
                }
                setTimeout(() => { button.textContent = "Copy"; }, 2000);
            });
            box.classList.add("with-copy");
            box.append(button);
        }
    }

    // Which link of the board was used, so that the same one has the focus afterwards.
    function nameOf(link) {
        return link.dataset.sort ? `[data-sort="${CSS.escape(link.dataset.sort)}"]` : null;
    }

    // What the page shows now. A jump to a place within it (#main) is no reason to load anything.
    let shown = location.pathname + location.search;
    let latest = 0;
    async function show(address, focus) {
        const mine = ++latest;
        const answer = await fetch(address, { headers: { Accept: "text/html" } });
        if (!answer.ok) throw new Error(String(answer.status));
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        const fresh = page.querySelector("#main"), old = document.querySelector("#main");
        if (!fresh.querySelector("#board")) throw new Error("no board");
        if (mine !== latest) return false;
        // All of it: tabs, form and links carry the state of the board too. A form that stood open stays open.
        const form = fresh.querySelector("details.filter");
        if (form) form.open = old.querySelector("details.filter[open]") !== null;
        old.replaceWith(document.adoptNode(fresh));
        document.title = page.title;
        const now = new URL(address);
        shown = now.pathname + now.search;
        prepareCommands(fresh);
        const target = focus ? document.querySelector("#board " + focus) : null;
        if (target) {
            target.focus();
        } else {
            const board = fresh.querySelector("#board");
            board.tabIndex = -1;
            board.focus({ preventScroll: true });
            board.scrollIntoView();
        }
        return true;
    }

    document.addEventListener("click", async (event) => {
        const link = event.target.closest("#board a[data-sort], #board a[data-page]");
        if (!link || event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        try {
            if (await show(link.href, nameOf(link))) history.pushState({ board: true }, "", link.href);
        } catch {
            location.assign(link.href);
        }
    });
    window.addEventListener("popstate", () => {
        if (location.pathname + location.search === shown) return;
        if (document.querySelector("#board")) show(location.href, null).catch(() => location.reload());
    });
    // How many entries are picked, beside the button that compares them.
    document.addEventListener("change", (event) => {
        const form = event.target.closest?.("form:has(> .compare)");
        if (!form) return;
        const count = form.querySelectorAll("input:checked").length;
        form.querySelector(".picked").textContent = count === 0 ? "two to four of the selected entries"
            : count < 2 ? "1 selected; select one to three more" : count > 4 ? count + " selected; at most four can be compared" : count + " selected";
        form.querySelector(".compare button").disabled = count === 1 || count > 4;
    });
    // Empty fields of a form stay out of the address.
    document.addEventListener("submit", (event) => {
        for (const field of event.target.querySelectorAll("input, select")) {
            if (field.name && !field.value) field.disabled = true;
        }
    });
    window.addEventListener("pageshow", () => {
        for (const field of document.querySelectorAll("form :disabled")) field.disabled = false;
    });
    prepareCommands(document);
})();
