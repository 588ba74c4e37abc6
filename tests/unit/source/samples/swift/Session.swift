import Foundation

infix operator <~>: AdditionPrecedence
precedencegroup PipePrecedence {
    higherThan: AssignmentPrecedence
}

/// How long to wait.
public let defaultTimeout: TimeInterval = 30
var (opened, closed) = (0, 0)
fileprivate var isDebug: Bool { ProcessInfo.processInfo.arguments.contains("-v") }

public typealias Completion<T> = (Result<T, SessionError>) -> Void

/// What can go wrong.
public indirect enum SessionError: Error, Equatable {
    case closed, timedOut
    case nested(SessionError)

    static let unknown = SessionError.closed

    var isFatal: Bool {
        switch self {
        case .closed: return true
        default: return false
        }
    }

    func retried() -> SessionError { .nested(self) }
}

/**
 Sends requests.
 */
public protocol Transport: AnyObject {
    associatedtype Request: Sendable
    var isOpen: Bool { get }
    static var shared: Self { get set }

    init(timeout: TimeInterval)
    func send(_ request: Request) async throws -> Data
    mutating func close()
    subscript(index: Int) -> Request { get }
}

/// A session with retries.
@MainActor
@available(iOS 15, macOS 12, *)
open class Session<Body: Encodable>: NSObject, Transport where Body: Sendable {
    public typealias Request = URLRequest

    @Published private(set) var attempts = 0, failures = 0
    static let shared = Session()
    weak var delegate: SessionDelegate?
    lazy var queue: OperationQueue = {
        let queue = OperationQueue()
        return queue
    }()
    public var isOpen: Bool {
        get { attempts > 0 }
        set { attempts = newValue ? 1 : 0 }
    }

    public required init(timeout: TimeInterval = defaultTimeout) {
        super.init()
    }

    convenience init?(url: URL?) { self.init(timeout: 1) }

    deinit {
        close()
    }

    /// Sends one request
    /// and waits for its answer.
    @discardableResult
    public func send(_ request: URLRequest) async throws -> Data {
        let limit = 3
        func attempt(_ number: Int) async throws -> Data {
            let local = number
            return Data(count: local)
        }
        return try await attempt(limit)
    }

    func send<T: Decodable>(_ request: URLRequest, as type: T.Type, then: @escaping Completion<T>) {}

    public subscript(index: Int) -> URLRequest { URLRequest(url: urls[index]) }

    class func reset() { shared.close() }; func close() { opened -= 1 }

    static func == (left: Session, right: Session) -> Bool { left === right }

    struct Options: OptionSet {
        let rawValue: Int
        static let fast = Options(rawValue: 1)
    }

    enum State: String { case idle, busy }
}

extension Session: CustomStringConvertible {
    public var description: String { "Session" }
}

// Helpers on arrays of requests.
extension Array.Index where Element == URLRequest {
    func sendAll() async {}
}

actor Counter {
    private var value = 0
    func increment() -> Int { value += 1; return value }
}

struct Box<Value> { let value: Value }

prefix func ! (box: Box<Bool>) -> Bool { !box.value }

#if DEBUG
func dump(_ session: Session<Data>) {}
#endif

@freestanding(expression)
public macro stringify<T>(_ value: T) -> String = #externalMacro(module: "Macros", type: "Stringify")
