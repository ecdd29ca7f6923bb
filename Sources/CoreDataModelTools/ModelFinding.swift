import CoreDataModelFiles

/// A part of a model that is wrong or probably wrong.
struct ModelFinding: Sendable, Hashable {
  enum Severity: String, Sendable {
    case error, warning
    /// A default of Xcode that may be intended.
    case note
  }

  /// The subject of the finding.
  struct Subject: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
      case entity
      case property(of: String)
      case fetchRequest
      case configuration
      /// The file as a whole.
      case file
    }

    let kind: Kind
    let name: String

    /// The subject's name in messages.
    var shown: String {
      switch kind {
      case .entity: name
      case .property(let entity): "\(entity).\(name)"
      case .fetchRequest: "fetch request '\(name)'"
      case .configuration: "configuration '\(name)'"
      case .file: ""
      }
    }

    /// What precedes a message.
    var prefix: String { shown.isEmpty ? "" : "\(shown): " }
  }

  let code: Code
  let subject: Subject
  let message: String
  /// The place in the file, if it is not the subject's.
  var line: Int?
  var column: Int?

  var severity: Severity { code.severity }

  init(_ code: Code, subject: Subject, message: String) {
    self.code = code
    self.subject = subject
    self.message = message
  }

  init(_ code: Code, entity: String, property: String? = nil, message: String) {
    let subject =
      property.map { Subject(kind: .property(of: entity), name: $0) } ?? Subject(kind: .entity, name: entity)
    self.init(code, subject: subject, message: message)
  }
}

extension ModelFinding {
  /// The kind of finding; names are stable across versions.
  enum Code: String, Sendable, CaseIterable {
    // Errors: the model cannot be used.
    case unreadable
    case unusable
    case duplicateName = "duplicate-name"
    case unknownEntity = "unknown-entity"
    case unknownProperty = "unknown-property"
    case unknownInverse = "unknown-inverse"
    case oneSidedInverse = "one-sided-inverse"
    case mixedIndex = "mixed-index"
    case noType = "no-type"
    case badPredicate = "bad-predicate"
    case badDerivation = "bad-derivation"
    case misspelt
    // Warnings: the model is usable, but part of it is probably unintended.
    case entityName = "entity-name"
    case propertyName = "property-name"
    case reservedName = "reserved-name"
    case alikeNames = "alike-names"
    case childlessAbstract = "childless-abstract"
    case emptyEntity = "empty-entity"
    case indexedTransient = "indexed-transient"
    case indexedUnordered = "indexed-unordered"
    case noTransformer = "no-transformer"
    case emptyRange = "empty-range"
    case emptyCount = "empty-count"
    case defaultOutOfRange = "default-out-of-range"
    case noInverse = "no-inverse"
    case noAction = "no-action"
    case orderedToOne = "ordered-to-one"
    case requiredNullify = "required-nullify"
    case unreadableValue = "unreadable-value"
    case unknownPart = "unknown-part"
    // Notes.
    case optionalScalar = "optional-scalar"
    case noDefault = "no-default"

    var severity: Severity {
      switch self {
      case .unreadable, .unusable, .duplicateName, .unknownEntity, .unknownProperty, .unknownInverse,
        .oneSidedInverse, .mixedIndex, .noType, .badPredicate, .badDerivation,
        .misspelt:
        .error
      case .optionalScalar, .noDefault: .note
      default: .warning
      }
    }
  }
}

extension ModelFinding {
  init(_ remark: ModelRemark) {
    let code: Code =
      switch remark.kind {
      case .unreadableValue: .unreadableValue
      case .misspelt: .misspelt
      case .unknown: .unknownPart
      }
    self.init(code, subject: Subject(kind: .file, name: ""), message: remark.message)
    (line, column) = (remark.line, remark.column)
  }
}
