import Foundation

// What a program takes that does nothing: the runtime and Foundation. Scripts/benchmark start compares with it.
FileHandle.standardOutput.write(Data("ready\n".utf8))
_ = readLine()
