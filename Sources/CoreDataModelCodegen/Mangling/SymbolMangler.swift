/// Generates the symbol names that the Swift compiler uses for members of classes.
///
/// It supports every form of `@NSManaged` declaration: getters, setters and methods of nominal types, with
/// the substitutions (earlier identifiers and types, words, standard types) of the compiler's own mangling.
/// The test suite compares it with the compiler, declaration by declaration.
struct SymbolMangler {
  private var _buffer: [UInt8] = Array("$s".utf8)

  // Substitutions: anything spelled before is referred to by its number.
  private var _substitutions: [String: Int] = [:]
  /// Parts of identifiers ("add", "To", "Books"), which later identifiers refer to by letter.
  private var _words: [ArraySlice<UInt8>] = []
  private static let _wordLimit = 26

  // The last substitution, with which the next one may be merged: "AB" and "AC" become "AbC".
  private var _lastPosition = 0
  private var _lastSize = 0
  private var _lastCount = 0
  private var _lastIsStandard = false
  private static let _repeatLimit = 2048

  private init() {}

  // MARK: Symbols

  /// Getter of a property.
  static func getter(of name: DeclarationName, in context: MangledContext, type: MangledType) -> String {
    _symbol(name, context) { mangler in
      mangler._append(type)
      mangler._append("vg")
    }
  }

  /// Setter of a property.
  static func setter(of name: DeclarationName, in context: MangledContext, type: MangledType) -> String {
    _symbol(name, context) { mangler in
      mangler._append(type)
      mangler._append("vs")
    }
  }

  /// A method that neither throws nor is async.
  ///
  /// - Parameter parameters: Labels (nil for `_`) and types.
  static func method(
    _ name: DeclarationName, in context: MangledContext, parameters: [(label: String?, type: MangledType)],
    result: MangledType?
  ) -> String {
    _symbol(name, context, labels: parameters.map(\.label)) { mangler in
      if let result { mangler._append(result) } else { mangler._append("y") }
      mangler._appendParameters(parameters)
      mangler._append("F")
    }
  }

  private mutating func _appendParameters(_ parameters: [(label: String?, type: MangledType)]) {
    if parameters.isEmpty {
      _append("y")
      return
    }
    // A single parameter without a label is not written as a list; all others are.
    let isList = parameters.count > 1 || parameters[0].label != nil
    for (index, parameter) in parameters.enumerated() {
      _append(parameter.type)
      if isList, index == 0 { _append("_") }
    }
    if isList { _append("t") }
  }

  private static func _symbol(
    _ name: DeclarationName, _ context: MangledContext, labels: [String?]? = nil,
    signature: (inout SymbolMangler) -> Void
  ) -> String {
    var mangler = SymbolMangler()
    mangler._append(.nominal(context.type))
    if let module = context.extensionModule {
      mangler._appendModule(module)
      mangler._append("E")
    }
    mangler._appendName(name)
    if let labels {
      // Labels come before the signature; if all are missing they are one "y", and without parameters they
      // are omitted.
      if !labels.isEmpty, labels.allSatisfy({ $0 == nil }) {
        mangler._append("y")
      } else {
        for label in labels {
          if let label { mangler._appendIdentifier(label) } else { mangler._append("_") }
        }
      }
    }
    signature(&mangler)
    return String(decoding: mangler._buffer, as: UTF8.self)
  }

  // MARK: Types

  private mutating func _append(_ type: MangledType) {
    switch type {
    case .standard(let letter): _appendStandard(letter)
    case .any: _append("yp")
    case .anyObject: _append("yXl")
    case .nominal(let nominal): _appendNominal(nominal)
    case .optional(let wrapped):
      _substituted(type) { mangler in
        mangler._append(wrapped)
        mangler._append("Sg")
      }
    case .generic(let base, let arguments):
      _substituted(type) { mangler in
        mangler._append(base)
        mangler._append("y")
        for argument in arguments { mangler._append(argument) }
        mangler._append("G")
      }
    case .tuple(let elements):
      if elements.isEmpty {
        _append("y" + "t")
        return
      }
      _substituted(type) { mangler in
        for (index, element) in elements.enumerated() {
          mangler._append(element)
          if index == 0 { mangler._append("_") }
        }
        mangler._append("t")
      }
    case .existential(let protocols):
      _substituted(type) { mangler in
        for (index, name) in protocols.enumerated() {
          mangler._appendProtocol(name)
          if index == 0 { mangler._append("_") }
        }
        mangler._append("p")
      }
    }
  }

  private mutating func _appendNominal(_ nominal: MangledNominal) {
    _substituted(.nominal(nominal)) { mangler in
      mangler._appendContext(of: nominal)
      mangler._appendName(nominal.name)
      mangler._append(nominal.kind.rawValue)
    }
  }

  /// A protocol in an existential type is written without its kind.
  private mutating func _appendProtocol(_ nominal: MangledNominal) {
    if _appendSubstitution(nominal.key) { return }
    _appendContext(of: nominal)
    _appendName(nominal.name)
    _addSubstitution(nominal.key)
  }

  private mutating func _appendContext(of nominal: MangledNominal) {
    if let parent = nominal.parent {
      _appendNominal(parent)
    } else {
      _appendModule(nominal.module)
    }
  }

  private mutating func _appendName(_ name: DeclarationName) {
    _appendIdentifier(name.text)
    if let discriminator = name.discriminator {
      _appendIdentifier(discriminator)
      _append("LL")
    }
  }

  private mutating func _appendModule(_ module: String) {
    if module == "Swift" { _append("s") } else { _appendIdentifier(module) }
  }

  private mutating func _append(_ text: String) { _buffer.append(contentsOf: text.utf8) }

  // MARK: Substitutions

  private mutating func _substituted(_ type: MangledType, _ spell: (inout SymbolMangler) -> Void) {
    let key = type.key
    if _appendSubstitution(key) { return }
    spell(&self)
    _addSubstitution(key)
  }

  private mutating func _addSubstitution(_ key: String) {
    if _substitutions[key] == nil { _substitutions[key] = _substitutions.count }
  }

  private mutating func _appendSubstitution(_ key: String) -> Bool {
    guard let number = _substitutions[key] else { return false }
    if number >= 26 {
      _append("A")
      if number > 26 { _append("\(number - 27)") }
      _append("_")
      return true
    }
    let letter = UInt8(ascii: "A") + UInt8(number)
    if !_merge(letter, isStandard: false) {
      _append("A")
      _buffer.append(letter)
    }
    return true
  }

  private mutating func _appendStandard(_ letter: Character) {
    let letter = letter.asciiValue!
    if !_merge(letter, isStandard: true) {
      _append("S")
      _buffer.append(letter)
    }
  }

  /// Merges a substitution with the previous one, if nothing has been written since.
  private mutating func _merge(_ letter: UInt8, isStandard: Bool) -> Bool {
    if _lastCount > 0, _lastCount < Self._repeatLimit, _buffer.count == _lastPosition + _lastSize,
      _lastIsStandard == isStandard, let last = _buffer.last
    {
      if last != letter, !isStandard {
        _lastPosition = _buffer.count
        _lastCount = 1
        _buffer[_buffer.count - 1] = last + 32
        _buffer.append(letter)
        _lastSize = 1
        return true
      }
      if last == letter {
        _lastCount += 1
        _buffer.removeLast(_buffer.count - _lastPosition)
        _append("\(_lastCount)")
        _buffer.append(letter)
        _lastSize = _buffer.count - _lastPosition
        return true
      }
    }
    _lastPosition = _buffer.count + 1
    _lastSize = 1
    _lastCount = 1
    _lastIsStandard = isStandard
    return false
  }

  // MARK: Identifiers

  private mutating func _appendIdentifier(_ identifier: String) {
    let key = "'" + identifier
    if _appendSubstitution(key) { return }
    let bytes = Array(identifier.utf8)
    if let encoded = Punycode.encode(identifier) {
      _append("00\(encoded.utf8.count)")
      // A digit or underscore would be parsed as a part of the count.
      if let first = encoded.utf8.first, first == UInt8(ascii: "_") || (48...57).contains(first) {
        _append("_")
      }
      _append(encoded)
    } else {
      _appendWords(bytes)
    }
    _addSubstitution(key)
  }

  /// An identifier in which words that occurred before are named by letter.
  private mutating func _appendWords(_ identifier: [UInt8]) {
    let replacements = _replacements(in: identifier)
    if !replacements.isEmpty { _append("0") }
    var position = 0
    for (index, replacement) in replacements.enumerated() {
      _appendVerbatim(identifier[position..<replacement.position])
      position = replacement.position + _words[replacement.word].count
      let isLast = index == replacements.count - 1
      _buffer.append(UInt8(ascii: isLast ? "A" : "a") + UInt8(replacement.word))
      if isLast, position == identifier.count { _append("0") }
    }
    _appendVerbatim(identifier[position...])
  }

  private mutating func _appendVerbatim(_ text: ArraySlice<UInt8>) {
    guard !text.isEmpty else { return }
    _append("\(text.count)")
    _buffer.append(contentsOf: text)
  }

  /// Finds the identifier's words, and records new ones.
  private mutating func _replacements(in identifier: [UInt8]) -> [(position: Int, word: Int)] {
    var found: [(position: Int, word: Int)] = []
    var start: Int?
    for position in 0...identifier.count {
      let byte = position < identifier.count ? identifier[position] : 0
      if let begin = start, Self._endsWord(byte, after: identifier[position - 1]) {
        let word = identifier[begin..<position]
        if let known = _words.firstIndex(of: word) {
          found.append((begin, known))
        } else if word.count >= 2, _words.count < Self._wordLimit {
          _words.append(word)
        }
        start = nil
      }
      let isDigit = (48...57).contains(byte)
      if start == nil, !isDigit, byte != UInt8(ascii: "_"), byte != 0 { start = position }
    }
    return found
  }

  private static func _endsWord(_ byte: UInt8, after previous: UInt8) -> Bool {
    let upper: ClosedRange<UInt8> = 65...90
    return byte == UInt8(ascii: "_") || byte == 0 || (!upper.contains(previous) && upper.contains(byte))
  }
}
