// Signs requests with aws4. Reads one JSON request per line, writes its Authorization header, one per line.
'use strict'
const aws4 = require('aws4')
const readline = require('node:readline')

readline.createInterface({ input: process.stdin }).on('line', (line) => {
  const { keys, ...request } = JSON.parse(line)
  const signer = new aws4.RequestSigner({ ...request, doNotModifyHeaders: true }, keys)
  signer.datetime = request.headers['X-Amz-Date']
  console.log(signer.sign().headers.Authorization)
})
