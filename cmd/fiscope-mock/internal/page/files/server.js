// What the page asks of the server, and how it follows the calls.

// ask sends a request to the admin API, and returns the answer's JSON, or null where there is none. What the
// server refuses is an error with its text and what to do.
export async function ask(method, path, body) {
  const options = { method, headers: {} }
  if (body !== undefined) {
    options.headers['Content-Type'] = 'application/json'
    options.body = typeof body === 'string' ? body : JSON.stringify(body)
  }
  const response = await fetch(path, options)
  if (response.status === 401 && path !== 'session') window.dispatchEvent(new Event('token'))
  if (!response.ok) throw new Error(await refusal(response))
  return response.status === 204 ? null : response.json()
}

async function refusal(response) {
  try {
    const { error, hint } = await response.json()
    return `${error}: ${hint}`
  } catch {
    return `HTTP ${response.status}`
  }
}

export const get = (path) => ask('GET', path)
export const put = (path, body) => ask('PUT', path, body)
export const post = (path, body) => ask('POST', path, body)
export const remove = (path) => ask('DELETE', path)

export const segments = (...texts) => texts.map(encodeURIComponent).join('/')

const retryAfter = 1000 // milliseconds
const hiddenFor = 30000 // a tab that nobody sees lets its connection go: a browser has six of them

// follow gives every call to listener.calls as it comes and changes, also after the server was started again,
// which listener.cleared tells, and says in listener.live whether there is a connection.
export function follow(listener) {
  let stream, timer, sleeping
  let asleep = false
  let last = 0
  let instance = ''

  function open() {
    stream = new EventSource(last > 0 ? `requests/stream?since=${last}` : 'requests/stream')
    stream.addEventListener('hello', (event) => {
      const hello = JSON.parse(event.data)
      const restarted = instance !== '' && hello.instance !== instance
      instance = hello.instance
      listener.live(true)
      if (!restarted) return
      listener.cleared()
      if (last > 0) again() // it began there, in another journal
    })
    stream.addEventListener('request', (event) => {
      last = Number(event.lastEventId)
      listener.call(JSON.parse(event.data))
    })
    stream.addEventListener('cleared', (event) => {
      last = Number(event.lastEventId)
      listener.cleared(JSON.parse(event.data).key)
    })
    stream.addEventListener('error', () => {
      stream.close()
      listener.live(false)
      timer = setTimeout(retry, retryAfter)
    })
  }

  function again() {
    stream.close()
    last = 0
    open()
  }

  // retry asks for the session first, which is always answered: with no connection, or without the token,
  // a stream would only fail.
  async function retry() {
    try {
      const session = await get('session')
      if (session.token) return window.dispatchEvent(new Event('token'))
      open()
    } catch {
      timer = setTimeout(retry, retryAfter)
    }
  }

  document.addEventListener('visibilitychange', () => {
    clearTimeout(sleeping)
    if (document.hidden) {
      sleeping = setTimeout(() => {
        asleep = true
        clearTimeout(timer)
        stream.close()
      }, hiddenFor)
    } else if (asleep) {
      asleep = false
      retry()
    }
  })
  open()
}
