<?php

declare(strict_types=1);

namespace App\Mail;

use App\Models\User;
use function sprintf;

const DEFAULT_FROM = 'noreply@example.org', RETRIES = 3;
define('MAILER_DEBUG', false);

/**
 * Sends messages.
 */
interface Transport extends \Countable
{
    public const TIMEOUT = 30;

    public function send(Message $message): bool;
}

// Keeps what was sent.
trait RemembersMessages
{
    /** @var list<Message> */
    private array $sent = [];

    protected function remember(Message ...$messages): void
    {
        $this->sent = [...$this->sent, ...$messages];
    }

    abstract public function forget(): void;
}

enum Priority: int implements \JsonSerializable
{
    case Low = 1;
    case High = 2;

    const DEFAULT = self::Low;

    public static function parse(string $text): self
    {
        return match ($text) {
            'high' => self::High,
            default => self::DEFAULT,
        };
    }

    public function jsonSerialize(): mixed { return $this->value; }
}

/**
 * A mailer that queues.
 */
#[Service(name: 'mailer')]
#[Lazy]
final class QueueMailer extends BaseMailer implements Transport
{
    use RemembersMessages;

    final public const string NAME = 'queue';
    public static int $count = 0, $failed;
    #[Inject]
    private readonly ?Queue $queue;
    public string $subject { get => trim($this->subject); }
    var $legacy;

    public function __construct(private readonly Clock $clock, protected string $from = DEFAULT_FROM)
    {
        parent::__construct();
    }

    /** Queues one message. */
    #[Pure]
    public function send(Message $message): bool
    {
        $retry = function (int $times) use ($message) {
            return $times > 0;
        };
        $log = fn (string $line) => sprintf('%s', $line);

        return $retry(RETRIES);
    }

    # Old style comment.
    public static function &instance(): static
    {
        static $instance;

        return $instance;
    }

    public function forget(): void {} public function count(): int { return 0; }
}

abstract class BaseMailer
{
    public function __construct() {}
}

if (! function_exists('App\Mail\mailer')) {
    /**
     * Returns the mailer.
     */
    function mailer(?string $name = null): QueueMailer
    {
        function inner_helper() { return 1; }

        return QueueMailer::instance();
    }
}

$onSend = function (Message $message): void {
    mailer()->send($message);
};
$twice = static fn (int $x): int => $x * 2;
$settings = ['from' => DEFAULT_FROM];
$settings['debug'] = MAILER_DEBUG;

return new class extends BaseMailer {
    public function up(): void
    {
    }
};
