package track

import "testing"

func TestClose(t *testing.T) {
	runScripts(t, []script{
		{"the client first", closed},
		{"the server first", talked + `
			s FA 201 101 -> finishing =closing
			c A 101 202
			c FA 101 202
			s A 202 102 -> ended =closed`},
		{"in three segments", talked + `
			c FA 101 201 -> finishing
			s FA 201 102
			c A 102 202 -> ended`},
		{"both at once", talked + `
			c FA 101 201 -> finishing
			s FA 201 101
			c A 102 202 -> =closing
			s A 202 102 -> ended`},
		{"both at once, the FIN itself acknowledges", talked + `
			c FA 101 201 -> finishing
			s FA 201 101
			c FA 101 202 # again
			s FA 201 102 -> ended`},
		{"half closed, data the other way", talked + `
			c FA 101 201 -> finishing
			s A 201 102
			s A 201 102 700
			c A 102 901
			s A 901 102 700
			s FA 1601 102
			c A 102 1601 -> =closing
			c A 102 1602 -> ended`},
		{"half closed by the server, data the other way", talked + `
			s FA 201 101 -> finishing
			c A 101 202 500
			s A 202 601
			c FA 601 202 10
			s A 202 612 -> ended`},
		{"data with the FIN", talked + `
			c FA 101 201 50 -> finishing
			s FA 201 152 70
			c A 152 272 -> ended`},
		{"FINs are repeated", talked + `
			c FA 101 201 -> finishing
			c FA 101 201
			s FA 201 102
			s FA 201 102
			c FA 101 201
			c A 102 202 -> ended`},
		{"the last acknowledgement is lost behind us", closed + `
			s FA 201 102 -> =closed
			c A 102 202 -> =closed
			s FA 201 102
			c R 102 0 -> =closed
			s R 202 0 -> =closed`},
		{"a FIN was lost before us, and is told by the number behind it", talked + `
			c A 102 201
			c FA 101 201 -> finishing
			s FA 201 102
			c A 102 202 -> ended`},
		{"the acknowledgement of a FIN is not the FIN's end", talked + `
			c FA 101 201 100 -> finishing
			s FA 201 201
			c A 202 202 -> =closing
			s A 202 202 -> ended`},
		{"FIN before data that is in front of it", talked + `
			c FA 601 201 100 -> finishing
			s A 201 101
			c A 101 201 500
			s FA 201 702
			c A 702 202 -> ended`},
		{"an acknowledgement overtakes another", talked + `
			c FA 101 201 -> finishing
			s FA 201 102
			s A 201 101
			c A 102 202 -> ended`},
		{"the server closes before it is connected", `
			c S 0
			s SA 0 1 -> replied
			s FA 1 1 -> finishing =answered
			c A 1 2 -> completed =closing
			c FA 1 2
			s A 2 2 -> ended`},
	})
}

// No sender goes on behind its FIN.
func TestFalseFin(t *testing.T) {
	runScripts(t, []script{
		{"below what was sent", talked + `
			c A 101 201 500
			c FA 300 201 -> =established
			s A 201 301 -> =established`},
		{"out of the window", talked + `
			c FA 1200 201 -> =established
			c FA -99000 201 -> =established
			s FA 201 900 -> =established`},
		{"without a good acknowledgement", talked + `
			c FA 101 202 -> =established
			c FA 101 -99000 -> =established
			c F 101 201 -> =established`},
		{"data goes on behind it", talked + `
			c FA 300 201 -> finishing
			c A 101 201 500
			s FA 201 301
			c A 601 202 -> =closing
			s A 202 601 -> =closing # of data, not of a FIN
			c FA 601 202
			s A 202 602 -> ended`},
		{"data ends where it was", talked + `
			c FA 300 201 -> finishing
			c A 101 201 200
			s FA 201 301
			c A 301 202 -> =closing
			c FA 301 202
			s A 202 302 -> ended`},
		{"in the place of payload", talked + `
			c A 101 201 200
			c FA 200 201 100 -> =established
			s A 201 301 -> =established # of data
			s FA 201 301 -> finishing
			c A 301 202 -> =closing
			c FA 301 202
			s A 202 302 -> ended`},
		{"once acknowledged nothing counts behind it", talked + `
			c FA 101 201 -> finishing
			s A 201 102
			c A 102 201 400
			c FA 502 201
			s FA 201 102
			c A 102 202 -> ended`},
		{"an acknowledgement of more than was sent", talked + `
			c FA 101 201 -> finishing
			s FA 201 103
			s FA 201 102
			c A 102 203 -> =closing
			c A 102 202 -> ended`},
	})
}

func TestLiberal(t *testing.T) {
	runScripts(t, []script{
		{"a keep-alive", talked + `
			c A 100 201
			s A 201 101
			c A 100 201 1 # with a byte of garbage
			s A 201 101
			c FA 101 201 -> finishing
			s FA 201 102
			c A 102 202 -> ended`},
		{"a keep-alive by the server", talked + `
			s A 200 101
			c A 101 201
			s FA 201 101 -> finishing`},
		{"a probe behind a full window", talked + `
			c A 101 201 1000
			s A 201 1101 w=0
			s A 201 1101 w=0
			c A 2101 201 1 # the largest window ever counts
			s A 201 1101 w=0
			c A 1101 201 1000
			s A 201 2102
			c FA 2102 201 -> finishing
			s FA 201 2103
			c A 2103 202 -> ended`},
		{"a large segment that ends behind the window", talked + `
			c A 1000 201 60000
			c A 101 201 900
			s A 201 61000
			c FA 61000 201 -> finishing
			s FA 201 61001
			c A 61001 202 -> ended`},
		{"segments of an earlier connection", talked + `
			c FA 777777 888888
			s FA 888888 777777 100
			c R 777777 0
			s R 888888 0
			c A 101 201 -> =established`},
		{"what is repeated much later", talked + `
			c A 101 201 1000
			s A 201 1101
			c A 1101 201 1000
			s A 201 2101
			c A 1 1 100
			s A 201 2101
			c FA 2101 201 -> finishing`},
	})
}

func TestUnsaid(t *testing.T) {
	for lines, want := range map[string]bool{
		shaken:                           true,
		talked:                           false,
		shaken + "c A 1 1 1":             false,
		shaken + "s A 1 1 1":             false,
		shaken + "s A 1 1 0":             true,
		shaken + "c A 99999 1 5":         true, // not of the connection
		shaken + "c FA 1 1 -> finishing": true,
		"c S 0 0 5":                      false,
	} {
		if got := told(t, lines).Unsaid(); got != want {
			t.Errorf("%q: %v", lines, got)
		}
	}
}

func TestFirstFin(t *testing.T) {
	for lines, want := range map[string]Side{
		closed: Client,
		talked + "s FA 201 101 -> finishing\nc FA 101 202": Server,
		talked + "c FA 101 201 -> finishing\ns FA 201 102": Client,
	} {
		if s, ok := told(t, lines).FirstFin(); s != want || !ok {
			t.Errorf("%q: %v, %v", lines, s, ok)
		}
	}
	if _, ok := told(t, talked).FirstFin(); ok {
		t.Error("there was none")
	}
}
