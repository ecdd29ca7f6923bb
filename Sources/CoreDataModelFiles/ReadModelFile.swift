import CoreDataModelSchema
import Synchronization

/// A model file as read; the same object for each reader of an unchanged file.
package final class ReadModelFile: Sendable {
  private enum State {
    case read(ModelSchema)
    case laidOut(ModelLayout)
  }

  /// What of the XML is skipped because it cannot be read.
  package let remarks: [ModelRemark]
  /// The file that was read; of a directory with several versions, that of the current one.
  package let path: String
  private let _state: Mutex<State>

  init(schema: ModelSchema, remarks: [ModelRemark], path: String) {
    _state = Mutex(.read(schema))
    self.remarks = remarks
    self.path = path
  }

  /// The contents of the file, in the form of the layout if there is one.
  package var schema: ModelSchema {
    _state.withLock { state in
      switch state {
      case .read(let schema): schema
      case .laidOut(let layout): layout.schema
      }
    }
  }

  /// The layout, with its version hashes, of the models that are made of the file; nil until `layOut(_:)`.
  package var layout: ModelLayout? {
    _state.withLock { state in
      if case .laidOut(let layout) = state { layout } else { nil }
    }
  }

  /// Takes over the layout of a model that is made of the file and states all of it.
  package func layOut(_ layout: ModelLayout) { _state.withLock { $0 = .laidOut(layout) } }
}
