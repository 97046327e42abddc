// Starts a server that is written in JavaScript, on a free port of 127.0.0.1, and prints the port.
// usage: node serve.js dynalite | s3rver FOLDER BUCKET...
'use strict'

// Methods of ES2023 that s3rver's router uses and nodejs 18 lacks.
for (const [method, copy] of [
  ['toReversed', (array) => [...array].reverse()],
  ['toSorted', (array, order) => [...array].sort(order)],
]) {
  if (Array.prototype[method]) continue
  Object.defineProperty(Array.prototype, method, {
    value(order) {
      return copy(this, order)
    },
  })
}

const [name, ...rest] = process.argv.slice(2)

async function start() {
  if (name === 'dynalite') {
    const server = require('dynalite')({ createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 })
    await new Promise((done) => server.listen(0, '127.0.0.1', done))
    return server.address().port
  }
  if (name === 's3rver') {
    const [directory, ...buckets] = rest
    const server = new (require('@20minutes/s3rver'))({
      address: '127.0.0.1',
      port: 0,
      silent: true,
      directory,
      allowMismatchedSignatures: false,
      vhostBuckets: true,
      serviceEndpoint: 'localhost',
      configureBuckets: buckets.map((bucket) => ({ name: bucket })),
    })
    return (await server.run()).port
  }
  throw new Error(`unknown server ${name}`)
}

process.stdin.on('end', () => process.exit(0)).resume()
start().then(
  (port) => console.log(port),
  (error) => {
    console.error(error)
    process.exit(1)
  }
)
