-- SPDX-License-Identifier: BSD-2-Clause
-- site.lua - a page of the site: its links lead to pages of the site, and its sections are written into the search index
--
-- SITE is the folder of the site, SITE/.pages has a line "SOURCE URL" for each page, and PAGE is the source of this one.
-- Names of calls and pages become links. A link to a file that is no page becomes its text. Pictures are copied.

local site, source = os.getenv("SITE"), os.getenv("PAGE")
local urls, pages = {}, {}
for line in io.lines(site .. "/.pages") do
	local path, url = line:match("^(%S+) (%S+)$")
	urls[path] = url
	pages[url] = true
end
local here = urls[source]

-- A path in the tree, of one that is relative to this page.
local function in_tree(path)
	local parts = {}
	for part in (source:gsub("[^/]*$", "") .. path):gmatch("[^/]+") do
		if part == ".." then
			table.remove(parts)
		elseif part ~= "." then
			table.insert(parts, part)
		end
	end
	return table.concat(parts, "/")
end

local function copy(path, name)
	local from = assert(io.open(path, "rb"))
	local to = assert(io.open(site .. "/" .. name, "wb"))
	to:write(from:read("a"))
	from:close()
	to:close()
end

local function Link(link)
	local path, anchor = link.target:match("^([^#]*)(.*)$")
	if link.target:match("^%a+:") or path == "" then
		return link, false
	end
	local url = urls[in_tree(path)]
	if not url then
		return link.content, false
	end
	link.target = url .. anchor
	return link, false
end

local function Image(image)
	local path = in_tree(image.src)
	image.src = path:gsub("/", "-")
	copy(path, image.src)
	return image, false
end

-- The page of a call or a program by its name, and that of name(7).
local function page_of(name, section)
	for _, number in ipairs(section and { section } or { "3", "7", "1" }) do
		local url = name .. "." .. number .. ".html"
		if pages[url] and url ~= here then
			return url
		end
	end
end

local function Code(code)
	local url = page_of((code.text:gsub("%(%)$", "")))
	return url and pandoc.Link({ code }, url) or nil, false
end

local function Str(str)
	local before, name, section, after = str.text:match("^(%p*)(oriel[%w_-]*)%((%d)%)(.*)$")
	local url = name and page_of(name, section)
	if url then
		return { pandoc.Str(before), pandoc.Link({ pandoc.Str(name .. "(" .. section .. ")") }, url), pandoc.Str(after) }, false
	end
end

-- Man pages have names of others in bold.
local function Strong(strong)
	local url = page_of(pandoc.utils.stringify(strong))
	return url and pandoc.Link({ strong }, url) or nil, false
end

local function quoted(text)
	local escapes = { ['"'] = '\\"', ["\\"] = "\\\\", ["<"] = "\\u003c" }
	return '"' .. text:gsub('[%c"\\<]', function(c) return escapes[c] or " " end) .. '"'
end

-- The text of a block; that of lists and tables has a space between items, which stringify leaves out.
local function text_of(block)
	local words = {}
	pandoc.walk_block(pandoc.Div({ block }), {
		Str = function(s) table.insert(words, s.text) end,
		Code = function(s) table.insert(words, s.text) end,
		CodeBlock = function(s) table.insert(words, s.text) end,
	})
	return table.concat(words, " ")
end

-- Sections begin with headings; what is before the first belongs to the page. The page of a call is one section.
local function write_index(blocks, title)
	local index = assert(io.open(site .. "/.index/" .. here .. ".js", "w"))
	local section, anchor, text = title, "", {}
	local function finish()
		index:write(string.format('{"page":%s,"title":%s,"url":%s,"text":%s},\n', quoted(title), quoted(section),
			quoted(here .. anchor), quoted(table.concat(text, " "))))
	end
	for _, block in ipairs(blocks) do
		if block.t == "Header" and block.level > 1 and not source:match("%.3$") then
			finish()
			section, anchor, text = pandoc.utils.stringify(block), "#" .. block.identifier, {}
		else
			table.insert(text, text_of(block))
		end
	end
	finish()
	index:close()
end

-- Man pages begin with a section NAME, which becomes the heading.
local function title_of(doc)
	local name = source:match("([^/]*)%.3$")
	if name then
		table.remove(doc.blocks, 1)
		local title = pandoc.utils.stringify(doc.blocks[1]):gsub("^" .. name, name .. "(3)")
		for _, block in ipairs(doc.blocks) do
			if block.t == "Header" then
				block.level = block.level + 1
			end
		end
		doc.blocks[1] = pandoc.Header(1, title)
	end
	return pandoc.utils.stringify(doc.blocks[1])
end

local function Pandoc(doc)
	local title = title_of(doc)
	doc.meta.pagetitle = title
	write_index(doc.blocks, title)
	return doc
end

return {
	{ traverse = "topdown", Link = Link, Image = Image, Code = Code, Str = Str, Strong = Strong },
	{ Pandoc = Pandoc },
}
