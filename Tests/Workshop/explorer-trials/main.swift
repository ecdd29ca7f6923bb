import CoreData
import Foundation

// Stores for Scripts/check explorer, and a second process that writes to them.

let usage = """
  usage: explorer-trials million PATH [COUNT]
         explorer-trials library PATH
         explorer-trials hostile PATH
         explorer-trials add PATH ENTITY KEY VALUE
         explorer-trials set PATH ENTITY NUMBER KEY VALUE

  """

func fail(_ text: String) -> Never {
  FileHandle.standardError.write(Data(text.utf8))
  exit(64)
}

let words = Array(CommandLine.arguments.dropFirst())
do {
  switch (words.first, words.count) {
  case ("million", 2), ("million", 3):
    try TrialStores.million(at: words[1], count: words.count == 3 ? Int(words[2]) ?? 0 : 1_000_000)
  case ("library", 2): try TrialStores.library(at: words[1])
  case ("hostile", 2): try TrialStores.hostile(at: words[1])
  case ("add", 5): try TrialWriter(words[1]).add(words[2], [words[3]: words[4]])
  case ("set", 6): try TrialWriter(words[1]).set(words[2], words[3], words[4], words[5])
  default: fail(usage)
  }
} catch {
  fail("error: \(error)\n")
}
