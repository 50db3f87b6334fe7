// Package proxy joins a front end, the dispatcher and the relay: it holds the
// sessions. One session is one client's connection, from accept to its end.
//
// The sentence that must stay true: the proxy asks the dispatcher; each
// Proceed, and each grant, ends in exactly one Release, Failed, Short or Withdraw;
// nothing else takes or gives a slot.
//
// A session belongs to one loop for all its life. It is a client record (64
// bytes), and from the moment a server is dialled a pair record. Neither has
// pointers.
//
//	            Wait                grant                 connected
//	accepted ----------> parked -----------> dialling -------------> relaying
//	   |  \                |  \                 |  \                     |
//	   |   `- Proceed -----+---`--> (dialling)  |   `- failed: parked    |
//	   |                   |  leaves, expires   |      again, or refused |
//	   `- Refuse           v                    v                        v
//	        `-----------> ended <----------- ended <---------------- ended
//
// Where clients have to bring a PROXY header, accepted is preceded by heading:
// it is over when the whole header is there.
//
// What virtual servers, pools and members there are changes within Isolate,
// while all loops stand still. A session goes on with what was removed, until
// it ends; see Forget.
//
// Two states of ending follow where the client must see it properly:
// flushing (what the server sent before its reset goes out first) and
// refusing (a FIN, and what the client still sends is thrown away).
package proxy
