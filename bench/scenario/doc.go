// Package scenario reads files that say what servers, proxies and clients do,
// what is measured, what is allowed and what is to be reached.
//
// A file begins with a comment that says why the scenario is there and what to
// look at. Then there is one directive a line:
//
//	# Why this is measured, and what to look at.
//	about    requests on $flows kept connections
//	proxies  penstock haproxy none
//	let      flows=64
//	server   -then stay
//	client   -work keep -flows $flows
//	for      2s
//	metric   req/s more
//	metric   p99 ms
//	goal     req/s >= 1.1 haproxy
//
// A # that begins a word begins a comment. Blanks part words; in flags, quotes
// keep them together: -does "serve 1s, stall 1s". $name or ${name} is the value
// of a variable, $$ is a dollar. Every mistake is named with its line.
//
// What a scenario is:
//
//	about     TEXT                              a line about it
//	proxies   NAME...                           who runs it unless others are asked for; the first is compared with the others
//	rounds    N                                 how often each does, 1 to 1000; 3 if not said
//	metric    NAME [more]                       a figure to show, in this order; more: the more the better
//	goal      METRIC >=|<= N [PROXY] [in CASE]  for the ratio to PROXY's figure, or for the figure itself; in all cases or one; in A/B: for the ratio of two cases
//
// Its variables and cases. A case sets variables of its own, over those of let:
//
//	let       VAR=VALUE...                      values, in all cases
//	case      NAME [x=N] VAR=VALUE...           a variant; X is where it stands in plots: the first value if not said
//	vary      TEXT                              what X is, as "clients waiting"
//
// Who takes part; these and all that follow may use a case's variables:
//
//	server    [NAME] FLAGS                      a process of penbench server; -limit is also the member's in the proxy
//	reflect   [NAME] FLAGS                      in place of servers: a process of penbench reflect, which has no sockets; needs network links
//	client    [NAME] [xN] FLAGS                 N processes of penbench client that do the same
//	syn       [NAME] FLAGS                      a process of penbench syn, which makes handshakes by itself; needs network link
//	program   COMMAND [FLAGS]                   in place of both: a command of penbench that prints figures
//	members   N                                 addresses of each server, each a member; 1 if not said
//	copies    N                                 so many proxies at a time, each with servers and clients of its own; 1
//	loops     N                                 loops, threads or workers of a proxy; 2
//	network   loopback|link|links               how clients reach the proxy: loopback; or a TAP (penstock) or a veth (the others). links: so does the proxy its servers; penstock forwards
//
// How proxies are set up, beside what package peer does:
//
//	penstock  FLAG VALUE                        a flag more; keys of "-pool default," win over those set already, on a link those of "-virtual default," too
//	haproxy   SECTION LINE                      a line for global, defaults or listen, or words for each server
//	nginx     SECTION LINE                      a line for main, events, stream, upstream or server, or words for each member
//	without   NAME...                           proxies that can't do this, and so don't
//
// What happens, and for how long:
//
//	every     TIME reload [LIMIT...]            reload each proxy while it is measured; limits for its members in turn
//	memory    parked|pairs [parked|pairs]       measure the proxy's memory and descriptors, each client that waits or that is served; and of those that come last
//	warm      TIME                              clients work before they count; 500ms
//	for       TIME                              clients count; 3s
//	settle    TIME                              servers may take to be rid of all connections afterwards; 5s
//
// What is allowed:
//
//	allow     [OUTCOME...]                      outcomes besides served that are no loss: gave-up, reset, empty, ...
//	ghosts    N|any                             connections without a byte that servers may see in a round; 0
//
// Holders (-work hold) come before all others, and stay to the end. Those whose line
// is behind that of a client which does not hold come last, when the others have
// done their work. A generator that keeps connections (syn -work keep) has them all
// before it begins; that is when memory is measured.
//
// Ghosts can be innocent: a client may leave in the instant between the dial and
// its first byte. All clients do at the end of a closed model, hence "any" there.
package scenario
