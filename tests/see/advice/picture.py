#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""picture.py - whether a profile's picture is well-formed XML without a script, has at most 300 KB, and has these texts

usage: picture.py PICTURE TEXT...
"""
import sys
import xml.etree.ElementTree as tree

BYTES_MOST = 300 * 1000
SVG = "{http://www.w3.org/2000/svg}"
SHAPES = {SVG + name for name in ("svg", "rect", "text", "path", "circle", "g")}


def main():
    with open(sys.argv[1], "rb") as file:
        content = file.read()
    root = tree.fromstring(content)
    texts = [element.text or "" for element in root.iter(SVG + "text")]
    faults = [f"it has {len(content)} bytes"] if len(content) > BYTES_MOST else []
    faults += [f"there is a {element.tag}" for element in root.iter() if element.tag not in SHAPES]
    faults += [f"{element.tag} has {name}" for element in root.iter() for name in element.keys() if name.startswith("on") or "href" in name]
    faults += [f"there is no text with \"{wanted}\": {texts}" for wanted in sys.argv[2:] if not any(wanted in text for text in texts)]
    print("\n".join(faults))
    return bool(faults)


sys.exit(main())
