// Package bench holds the nouns that the rooms of servemark share: what the user asked (Spec), what will be
// sent and when (Request, Plan), what happened to one request (Record), what is known of the server (Server) and
// what follows from all of it (Summary). Types here carry no behaviour beyond their own laws; they import nothing
// of the project, so every room can depend on them without depending on each other.
package bench
