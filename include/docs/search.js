// SPDX-License-Identifier: BSD-2-Clause
/*
 * search.js - finds sections that have all words of the search box, as they are typed, or those of ?q= in the address
 *
 * search-index.js has the sections: page, title, url, text. Without a server, so that the site works from a folder.
 */
"use strict";

const MOST = 30; /* results */
const AROUND = 80; /* characters before and behind the first word that is found */
const input = document.querySelector("#search input");
const results = document.querySelector("#results");
const article = document.querySelector("article");

/* 0: a word is missing. A word in a title counts more than one in the text, and a name as a whole most. */
function score(section, words) {
	const page = section.page.toLowerCase(), title = section.title.toLowerCase(), text = section.text.toLowerCase();
	let sum = 0;

	for (const word of words) {
		const found = (page.includes(word) ? 10 : 0) + (title.includes(word) ? 5 : 0) + (text.includes(word) ? 1 : 0) +
			(page.startsWith(word + "(") ? 50 : 0);

		if (found === 0)
			return 0;
		sum += found;
	}
	return sum;
}

function find(words) {
	return search_index.map(section => ({ section, points: score(section, words) }))
		.filter(found => found.points > 0)
		.sort((a, b) => b.points - a.points)
		.slice(0, MOST)
		.map(found => found.section);
}

function element(name, text) {
	const made = document.createElement(name);

	made.textContent = text;
	return made;
}

function excerpt(text, word) {
	const at = Math.max(0, text.toLowerCase().indexOf(word) - AROUND);

	return (at > 0 ? "… " : "") + text.slice(at, at + 2 * AROUND + word.length) + " …";
}

function item(section, words) {
	const made = document.createElement("li"), link = element("a", section.page);

	if (section.title !== section.page)
		link.textContent += ": " + section.title;
	link.href = section.url;
	link.addEventListener("click", () => { input.value = ""; show(); });
	made.append(link, element("p", excerpt(section.text, words[0])));
	return made;
}

function show() {
	const words = input.value.toLowerCase().split(/\s+/).filter(word => word !== "");
	const found = words.length > 0 ? find(words) : [], list = document.createElement("ol");

	results.hidden = words.length === 0;
	article.hidden = words.length > 0;
	list.append(...found.map(section => item(section, words)));
	results.replaceChildren(element("h1", found.length > 0 ? "Search results" : "Nothing found"), list);
}

input.addEventListener("input", show);
document.querySelector("#search").addEventListener("submit", event => {
	const first = results.querySelector("a");

	event.preventDefault();
	if (first)
		first.click();
});
document.addEventListener("keydown", event => {
	if (event.key === "/" && document.activeElement !== input) {
		event.preventDefault();
		input.focus();
	}
});
input.value = new URLSearchParams(location.search).get("q") ?? "";
if (input.value !== "")
	show();
