"""Prints the names of the types at the top of modules, once each and sorted, from their symbol graphs, one after another on
standard input."""
import json
import sys

kinds = {f"swift.{kind}" for kind in ("struct", "class", "enum", "protocol", "typealias", "actor")}
names = set()
text = sys.stdin.read()
decoder = json.JSONDecoder()
place = 0
while place < len(text):
    graph, place = decoder.raw_decode(text, place)
    for symbol in graph["symbols"]:
        path = symbol["pathComponents"]
        if len(path) == 1 and symbol["kind"]["identifier"] in kinds and not path[0].startswith("_"):
            names.add(path[0])
    while place < len(text) and text[place].isspace():
        place += 1
print("\n".join(sorted(names)))
