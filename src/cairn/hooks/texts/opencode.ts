// Cairn in OpenCode. It reports what the agent does to the program `cairn hook`, and hands on what that answers.
// `cairn init` writes this file anew, and `cairn uninstall` removes it, so do not change it.
// Without Cairn, or with one that hangs, it does nothing. It uses modules of Node alone.
// @ts-nocheck
import { spawn } from "node:child_process"

const COMMAND = ["cairn"]
const ANSWER_MS = 1500
const START_MS = 3000
const RETRY_MS = 60000 // after which a program that was missing is looked for again
const MAX_OUTPUT_CHARS = 100000
const MAX_ANSWER_CHARS = 1000000
const MAX_KNOWN = 1000
const LOOKS = new Set(["read", "grep", "glob", "list", "bash"]) // tools that an answer may take the place of
const LOADED = Symbol.for("cairn.opencode") // the folders of the user and of the project may both have this file

let missingSince = 0

/** Run `cairn hook EVENT` and return what it answers; nothing if it fails or is late. */
function ask(event, payload, folder, ms) {
  if (missingSince && Date.now() - missingSince < RETRY_MS) return Promise.resolve({})
  return new Promise((resolve) => {
    let timer, child
    let answer = ""
    const settle = () => {
      clearTimeout(timer)
      resolve(parse(answer))
    }
    try {
      child = spawn(COMMAND[0], [...COMMAND.slice(1), "hook", event, "--agent", "opencode"], {
        cwd: folder,
        stdio: ["pipe", "pipe", "ignore"],
        windowsHide: true,
      })
      timer = setTimeout(() => {
        answer = ""
        child.kill("SIGKILL")
        child.stdout.destroy() // a process that it left behind may hold it
        settle()
      }, ms)
      child.on("error", (error) => {
        if (error.code === "ENOENT") missingSince = Date.now()
        answer = ""
        settle()
      })
      child.on("close", settle)
      child.stdout.setEncoding("utf8")
      child.stdout.on("data", (text) => {
        if (answer.length < MAX_ANSWER_CHARS) answer += text
      })
      child.stdin.on("error", () => {}) // it ended without reading
      child.stdin.end(JSON.stringify(payload))
    } catch {
      answer = ""
      settle()
    }
  })
}

function parse(answer) {
  try {
    return JSON.parse(answer) ?? {}
  } catch {
    return {}
  }
}

/** A map that forgets what it was told first. */
class Known extends Map {
  set(key, value) {
    super.set(key, value)
    if (this.size > MAX_KNOWN) this.delete(this.keys().next().value)
    return this
  }
}

/** What is known of the sessions of one project. */
class Sessions {
  constructor(folder) {
    this.folder = folder
    this.parents = new Known() // of sessions that a task began
    this.starts = new Known() // promises of what sessions are shown at their start
    this.texts = new Known() // what the agent said last
    this.failed = new Known() // calls whose failure was reported; the part of a call may be updated again
    this.denials = new Known() // calls that were denied
    this.tail = Promise.resolve()
  }

  /** Return the fields that all events of a session have. */
  about(session) {
    let root = session
    for (let depth = 0; depth < 20 && this.parents.get(root); depth++) root = this.parents.get(root)
    return { session_id: root, agent_id: root === session ? "" : session, cwd: this.folder }
  }

  isHelper(session) {
    return Boolean(this.parents.get(session))
  }

  ask(event, session, payload, ms = ANSWER_MS) {
    return ask(event, { ...this.about(session), ...payload }, this.folder, ms)
  }

  /** Report an event that nobody waits for, after those before it. */
  tell(event, session, payload) {
    this.tail = this.tail.then(() => this.ask(event, session, payload)).catch(() => {})
    return this.tail
  }

  /** Return what a session is shown at its start, which is asked once. */
  start(session) {
    if (!this.starts.has(session)) {
      const event = this.isHelper(session) ? "subagent-start" : "session-start"
      const payload = { hook_event_name: "session.created", source: "startup" }
      this.starts.set(session, this.ask(event, session, payload, START_MS))
    }
    return this.starts.get(session)
  }

  hear(event) {
    const { type, properties = {} } = event
    const session = properties.sessionID ?? properties.info?.id
    if (type === "session.created" && session) {
      if (properties.info?.parentID) this.parents.set(session, properties.info.parentID)
      this.start(session)
    } else if (type === "session.idle" && session) {
      const helper = this.isHelper(session)
      const text = this.texts.get(session) ?? ""
      this.tell(helper ? "subagent-end" : "turn-end", session, { hook_event_name: type, last_assistant_message: text })
    } else if (type === "session.compacted" && session) {
      this.tell("before-compaction", session, { hook_event_name: type })
    } else if (type === "session.deleted" && session && !this.isHelper(session)) {
      this.tell("session-end", session, { hook_event_name: type, reason: "deleted" })
    } else if (type === "message.part.updated") {
      this.hearPart(properties.part)
    }
  }

  /** Report a tool that failed, which no hook does. */
  hearPart(part) {
    if (part?.type !== "tool" || part.state?.status !== "error") return
    const call = `${part.sessionID}/${part.messageID}/${part.callID}`
    if (this.failed.has(call) || this.denials.has(`${part.sessionID}/${part.callID}`)) return
    this.failed.set(call, true)
    const { input, error, time } = part.state
    this.tell("after-tool", part.sessionID, {
      hook_event_name: "message.part.updated",
      tool_use_id: part.callID,
      tool_name: part.tool,
      tool_input: input ?? {},
      error: String(error ?? "").slice(-MAX_OUTPUT_CHARS),
      duration_ms: time?.end && time?.start ? time.end - time.start : 0,
    })
  }
}

/** Return what a tool answered, the end of it if it is long. */
function response(output) {
  if (typeof output?.output !== "string") return { content: output?.content ?? [], isError: output?.isError === true }
  const text = output.output
  return { output: text.slice(-MAX_OUTPUT_CHARS), bytes: Buffer.byteLength(text), exit: output.metadata?.exit ?? null }
}

export const Cairn = async ({ directory }) => {
  const folder = directory ?? process.cwd()
  const loaded = (globalThis[LOADED] ??= new Set())
  if (loaded.has(folder)) return {}
  loaded.add(folder)
  const sessions = new Sessions(folder)

  return {
    event: async (input) => {
      try {
        sessions.hear(input.event)
      } catch {
        // what is not as expected is not reported
      }
    },

    "chat.message": async (input, output) => {
      try {
        const session = input.sessionID
        if (sessions.isHelper(session)) return // no person wrote it
        await sessions.start(session)
        const prompt = output.parts
          .filter((part) => part.type === "text" && !part.synthetic)
          .map((part) => part.text)
          .join("\n")
        const { context } = await sessions.ask("prompt", session, {
          hook_event_name: "chat.message",
          message_id: output.message?.id ?? "",
          prompt,
        })
        if (!context) return
        output.parts.push({
          id: `prt_${Date.now()}${Math.random().toString(36).slice(2, 8)}`,
          messageID: output.message.id,
          sessionID: output.message.sessionID,
          type: "text",
          text: context,
          synthetic: true,
        })
      } catch {
        // the prompt goes on as it is
      }
    },

    // It comes before every request: what the session was shown at its start stays, so that the model's cache does, too.
    "experimental.chat.system.transform": async (input, output) => {
      try {
        if (!input?.sessionID) return
        const { context } = await sessions.start(input.sessionID)
        if (context) output.system.push(context)
      } catch {
        // the request goes on as it is
      }
    },

    "experimental.text.complete": async (input, output) => {
      if (input?.sessionID && typeof output?.text === "string") sessions.texts.set(input.sessionID, output.text)
    },

    "tool.execute.before": async (input, output) => {
      let denial
      try {
        if (!LOOKS.has(input.tool)) return
        const answer = await sessions.ask("before-tool", input.sessionID, {
          hook_event_name: "tool.execute.before",
          tool_use_id: input.callID,
          tool_name: input.tool,
          tool_input: output.args,
        })
        denial = answer.denial
      } catch {
        return
      }
      if (!denial) return
      sessions.denials.set(`${input.sessionID}/${input.callID}`, true)
      throw new Error(denial)
    },

    "tool.execute.after": async (input, output) => {
      try {
        const { context } = await sessions.ask("after-tool", input.sessionID, {
          hook_event_name: "tool.execute.after",
          tool_use_id: input.callID,
          tool_name: input.tool,
          tool_input: input.args,
          tool_response: response(output),
        })
        if (!context) return
        if (typeof output.output === "string") output.output += `\n\n${context}`
        else output.content?.push({ type: "text", text: context })
      } catch {
        // the result goes on as it is
      }
    },
  }
}
