// Package web is the page that the admin interface shows to a browser: how
// the proxy is, live. It only reads.
//
//	mux.Handle("/{$}", web.Handler())
//
// The page is one document, the same for everybody and with nothing in it
// that is anybody's: its script asks the interface for all numbers, once a
// second, while the page can be seen. So the document may be handed out
// without a token; if the interface wants one, the page asks for it and keeps
// it no longer than its tab.
//
// It loads nothing from anywhere. Its Content-Security-Policy lets the browser
// run its one script and use its one style sheet, known by their hashes, and
// ask the server it came from. Nothing that the interface says is taken for
// HTML: it is put in as text, and require-trusted-types-for makes a browser
// refuse any other way.
//
// The parts lie in the folder page. The scripts are joined, in the order of
// their names.
package web
