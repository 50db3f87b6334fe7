package track

import "testing"

func TestHandshake(t *testing.T) {
	runScripts(t, []script{
		{"three segments", shaken},
		{"the SYN is repeated", `
			c S 0
			c S 0 -> =opening
			s SA 0 1 -> replied
			c S 0 -> =answered
			c A 1 1 -> completed
			c S 0 -> =established`},
		{"another SYN while the server has not answered could make a second connection", `
			c S 0
			c S 50 -> drop
			c S -50 -> drop
			c SA 0 0 -> drop
			s SA 0 51 -> stale drop
			s SA 0 1 -> replied`},
		{"another SYN later: the server asks back, and the client resets", `
			c S 0
			s SA 0 1 -> replied
			c S 5000 -> =answered
			s A 1 1
			c R 1 0 -> aborting =resetting`},
		{"another SYN when established passes", talked + `
			c S 99999 -> =established
			c SA 7 201 -> drop
			s A 201 101
			c R 101 0 -> aborting =resetting`},
		{"a SYN-ACK with a wrong number is none", `
			c S 0
			s SA 0 0 -> stale drop =opening
			s SA 0 2 -> stale drop =opening
			s SA 0 -1 -> stale drop
			s SA 0 1 -> replied
			s SA 0 2 -> drop =answered
			s SA 0 0 -> drop =answered
			s A 1 2 -> drop =answered
			s A 7777 5555 -> drop
			s A 1 1 -> =answered`},
		{"a SYN of the server's is none", `
			c S 0
			s S 0 1 -> drop
			s SA 0 1 -> replied
			s S 0 1 -> drop
			c A 1 1 -> completed
			s S 0 1 -> drop`},
		{"nothing but the SYN before it is answered", `
			c S 0
			c A 1 1 -> drop
			c FA 1 1 -> drop
			c A 1 1 50 -> drop
			s A 1 1 -> drop =opening # fits, but is no answer
			s - 1 1 -> drop =opening
			s SA 0 1 -> replied`},
		{"an old connection at the server", `
			c S 0
			s A 7777 5555 -> stale drop =opening
			s FA 7777 5555 10 -> stale drop
			s SA 0 1 -> replied`},
		{"a repeated SYN-ACK passes", `
			c S 0
			s SA 0 1 -> replied
			s SA 0 1 -> =answered
			c A 1 1 -> completed
			s SA 0 1 -> =established
			c A 1 1`},
		{"the ACK is lost, and data completes", `
			c S 0
			s SA 0 1 -> replied
			c A 1 1 300 -> completed =established
			s A 1 301`},
		{"the second segment of data comes first", `
			c S 0
			s SA 0 1 -> replied
			c A 301 1 300 -> completed =established
			c A 1 1 300
			s A 1 601`},
		{"the ACK is lost, and a FIN completes", `
			c S 0
			s SA 0 1 -> replied
			c FA 1 1 -> completed =closing
			s FA 1 2
			c A 2 2 -> ended =closed`},
		{"an ACK of something else does not complete", `
			c S 0
			s SA 0 1 -> replied
			c A 1 0 -> drop =answered
			c A 1 2 -> drop =answered
			c A 1 9999 10 -> drop =answered
			c - 1 1 -> drop =answered
			c A 1 1 -> completed`},
		{"an ACK from outside the window does not complete", `
			c S 0
			s SA 0 1 w=100 -> replied
			c A 102 1 -> drop =answered
			c A 0 1 -> drop =answered
			c A 101 1 -> completed`},
		{"the server's window is closed at first", `
			c S 0
			s SA 0 1 w=0 -> replied
			c A 1 1 -> completed
			c A 1 1 1 # a probe
			s A 1 2 w=10
			c A 2 1 10
			c FA 12 1 -> finishing
			s FA 1 13
			c A 13 2 -> ended`},
		{"the window of a SYN-ACK that is repeated", `
			c S 0
			s SA 0 1 w=0 -> replied
			s SA 0 1 w=500
			c A 301 1 100 -> completed =established`},
		{"the window of a SYN that is repeated", `
			c S 0 0 0 w=0
			c S 0 0 0 w=500
			s SA 0 1 -> replied
			c A 1 1 w=0 -> completed
			s A 401 1 50
			c A 1 451 -> =established
			c FA 1 451 -> finishing
			s FA 451 2
			c A 2 452 -> ended`},
		{"data on the SYN (TCP Fast Open)", `
			c S 0 0 100
			s SA 0 101 -> replied
			s A 1 101 50
			c A 101 51 -> completed
			c FA 101 51 -> finishing
			s FA 51 102
			c A 102 52 -> ended`},
		{"data on the SYN that the server did not take", `
			c S 0 0 100
			s SA 0 1 -> replied
			c A 1 1 100 -> completed
			s A 1 101`},
	})
}

func TestCookies(t *testing.T) {
	const two = `
		c S 0
		s SA 0 1 -> replied
		c S 0
		s SA 900000 1 -> =answered
		`
	runScripts(t, []script{
		{"the client got the first of two", two + `
			c A 1 1 -> completed
			s A 1 1 100
			c FA 1 101 -> finishing
			s FA 101 2
			c A 2 102 -> ended`},
		{"the client got the second of two", two + `
			c A 1 900001 -> completed
			s A 900001 1 100
			c FA 1 900101 -> finishing
			s FA 900101 2
			c A 2 900102 -> ended`},
		{"nothing between them completes", two + `
			c A 1 2 -> drop
			c A 1 900000 -> drop
			s A 2 1 10 -> =answered`},
		{"repeated ones change nothing", two + `
			s SA 0 1
			s SA 900000 1
			s SA 0 1
			c A 1 900001 -> completed`},
		{"of three the last two are remembered", two + `
			s SA 1800000 1
			c A 1 1 -> drop
			c A 1 1800001 -> completed`},
		{"a reset of either", two + `
			s R 5 0
			s R 900001 0 -> broken =reset`},
	})
}

func TestWindowScale(t *testing.T) {
	runScripts(t, []script{
		{"if both offer it", `
			c S 0 0 0 ws=7
			s SA 0 1 ws=7 -> replied
			c A 1 1 w=1000 -> completed
			s A 1 1
			s R 127000 0 -> aborting`},
		{"not if only the client does", `
			c S 0 0 0 ws=7
			s SA 0 1 -> replied
			c A 1 1 -> completed
			s R 127000 0 -> =established
			c R 127000 0 -> =established`},
		{"not if only the server does", `
			c S 0
			s SA 0 1 ws=7 -> replied
			c A 1 1 -> completed
			s R 127000 0 -> =established
			c R 127000 0 -> =established`},
		{"those of the SYNs are not scaled", `
			c S 0 0 0 ws=7 w=64000
			s SA 0 1 w=64000 ws=9 -> replied
			c A 1 1 w=1 -> completed
			c R 70000 0 -> =established
			s R 70000 0 -> =established
			c R 64001 0 -> aborting`},
		{"a shift of 14 is the largest", `
			c S 0 0 0 ws=15
			s SA 0 1 ws=15 -> replied
			c A 1 1 w=1 -> completed
			s A 1 1
			s R 80000 0 -> =established`},
	})
}
