import Foundation

// The build plugin's tool: `coredata-codegen classes|accessors|adopt ...`; the plugins pass the arguments.

do {
  let arguments = Array(CommandLine.arguments.dropFirst())
  switch arguments.first {
  case "classes": try ClassesCommand(arguments).run()
  case "accessors": try AccessorsCommand(arguments).run()
  case "compile": try CompileCommand(arguments).run()
  case "adopt": exit(try AdoptCommand(arguments).run())
  default:
    throw UsageError(
      message: "usage: coredata-codegen classes --model FILE --output FILE SOURCE...\n"
        + "       coredata-codegen accessors --module NAME --output FILE [--model FILE]... [--dependency NAME=DIR]... "
        + "SOURCE...\n"
        + "       coredata-codegen compile --model FILE --output FILE [--module NAME] [--versions FILE]...\n"
        + "       coredata-codegen adopt [--write] [--autoreleasepool FILE] PATH...")
  }
} catch let error as UsageError {
  FileHandle.standardError.write(Data("\(error.message)\n".utf8))
  exit(64)
} catch {
  FileHandle.standardError.write(Data("\(error)\n".utf8))
  exit(1)
}
