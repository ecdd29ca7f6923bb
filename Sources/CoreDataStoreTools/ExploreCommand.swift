import CoreDataToolKit

extension Command {
  /// `coredata explore`: runs `coredata-explorer`, a separate program, so that this one does not depend on
  /// its HTTP library.
  package static let explore = Command(ExploreSyntax.command) { _, environment in
    try CompanionProgram.explorer.exec(ProgramArguments.words, environment)
  }
}
