// The app's list in a terminal.
//
//   swift run ChecklistTool add "Buy bread"
//   swift run ChecklistTool done "buy bread"
//   swift run ChecklistTool

import Checklist
import Foundation

let words = Array(CommandLine.arguments.dropFirst())
let store = try ChecklistStore()
switch (words.first, words.dropFirst().joined(separator: " ")) {
case ("add", let text) where !text.isEmpty: try store.add(text)
case ("done", let text) where !text.isEmpty:
  if try store.finish(text) == 0 { print("Nothing of that name is to be done.") }
case (nil, _): break
default:
  print("usage: ChecklistTool [add TEXT | done TEXT]")
  exit(64)
}
for item in try store.viewContext.fetch(ChecklistStore.all) {
  print("\(item.done == nil ? "[ ]" : "[x]") \(item.text)")
}
