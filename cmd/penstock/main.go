// Command penstock is a TCP load-balancing proxy that queues connection
// requests instead of dropping them. See README.md, and penstock -h.
package main

import "os"

func main() { os.Exit(run(os.Args[1:], process())) }
