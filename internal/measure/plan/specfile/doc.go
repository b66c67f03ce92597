// Package specfile reads and writes procfit.yaml, a Spec as a file. It has no keys of its
// own: a section is a group of fields, a key is a field's name in camel case, and a value
// goes through the field, so that a file is refused by the words that refuse a flag.
//
//	target:
//	  command: [./server, -addr, ":{port}"]
//	  url: http://127.0.0.1:{port}/
//	  env: {API_TOKEN: "${API_TOKEN}"}
//	compare:
//	  procs: [unset, 1, 2, 4]
//	load:
//	  connections: 64
//
// ${NAME} is a variable of procfit's environment. A Spec has it as {env:NAME}, and its
// value only where a trial runs, so that no record holds it. $${ is ${ itself.
package specfile
