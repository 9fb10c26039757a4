package hub

import (
	"fmt"
	"strings"
	"time"
)

// Kind is what went wrong, as one word that errors.Is finds in any error of this package:
//
//	if errors.Is(err, hub.Gated) { … }
type Kind string

// Error makes a Kind usable as the target of errors.Is.
func (k Kind) Error() string { return string(k) }

// The kinds of failure. Each has its own message, with cause and cure.
const (
	BadName          Kind = "bad name"              // not of the form org/name[@revision], or no file's name
	BareName         Kind = "bare name"             // no organisation: looked up in the cache only, never sent
	Offline          Kind = "offline"               // not in the cache, and the network is forbidden
	NoSuchOrPrivate  Kind = "absent or private"     // 401 without a token: the hub does not say which of the two
	BadToken         Kind = "token refused"         // 401 with a token that the hub does not know
	Gated            Kind = "gated"                 // exists, and its owner lets only some read it
	Forbidden        Kind = "forbidden"             // 403 for any other reason
	Disabled         Kind = "disabled"              // taken down by the hub
	RepoNotFound     Kind = "repo not found"        // no such repo, or none that this token may see
	RevisionNotFound Kind = "revision not found"    // the repo exists, the branch, tag or commit does not
	FileNotFound     Kind = "file not found"        // the repo and the revision exist, the file does not
	Elsewhere        Kind = "sent elsewhere"        // renamed or not mirrored: a redirect to another host's repo, not followed
	Circle           Kind = "redirects in a circle" // one redirect after another, with no end
	RateLimited      Kind = "rate limited"          // 429
	ServerFault      Kind = "server fault"          // 5xx
	NotAHub          Kind = "not a hub"             // the answer lacks what every hub sends
	DNS              Kind = "name not resolved"     // the host's name has no address here
	Refused          Kind = "connection refused"    // nothing listens there
	TimedOut         Kind = "timeout"               // no answer, or silence within a download
	TLS              Kind = "certificate refused"   // the secure connection failed
	Proxy            Kind = "proxy failed"          // the proxy of the environment could not be used
	Network          Kind = "network failed"        // any other fault of the connection
	DiskFull         Kind = "disk full"             // no room in the cache, or over quota
	CacheNotWritable Kind = "cache not writable"    // the cache cannot be written for another reason
	Corrupt          Kind = "corrupt download"      // size or checksum differ from what the hub announced
)

// Error is one failure with everything a message or a decision needs. It never holds a token.
type Error struct {
	Kind       Kind
	Repo       Repo
	File       string        // "" where the repo as a whole was asked for
	Host       string        // the host that was asked; "" where none was
	Page       string        // address of the repo's page on the hub; "" where no answer came from there
	Status     int           // HTTP status; 0 where there was none
	RetryAfter time.Duration // of RateLimited; 0 where the hub did not say
	Token      string        // where the token that was sent comes from; "" where none was sent
	RenamedTo  string        // the repo's new name, where the hub gave one on the way
	Server     string        // the hub's own words, control characters escaped, at most 300 bytes
	Detail     string        // what is wrong, for kinds that have several faults
	Err        error         // the cause below, if any
}

// Unwrap gives the kind and the cause, for errors.Is and errors.As.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Err}
}

// Error says what is wrong, the likely cause, and what to do.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.what())
	if e.RenamedTo != "" && e.Kind != Elsewhere {
		fmt.Fprintf(&b, " (the hub calls it %s now)", e.RenamedTo)
	}
	if e.Server != "" {
		fmt.Fprintf(&b, "; the server says %q", e.Server)
	}
	if e.Err != nil && e.Kind != Circle {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	if cure := e.cure(); cure != "" {
		b.WriteString("; ")
		b.WriteString(cure)
	}
	return b.String()
}

// thing is what was asked for, in words.
func (e *Error) thing() string {
	if e.File == "" {
		return fmt.Sprintf("%s %s", e.Repo.Kind, e.Repo)
	}
	return fmt.Sprintf("%s of %s %s", e.File, e.Repo.Kind, e.Repo)
}

func (e *Error) what() string {
	switch e.Kind {
	case BadName:
		return e.Detail
	case BareName:
		return fmt.Sprintf("%q has no organisation in front, so it is not sent to a hub: it may be the name of a served model", e.Repo.ID)
	case Offline:
		return fmt.Sprintf("%s is not in the local cache, and %s forbids the network", e.thing(), e.Detail)
	case NoSuchOrPrivate:
		return fmt.Sprintf("%s has no %s that can be read without a token: it does not exist, or it is private", e.Host, e.thing())
	case BadToken:
		return fmt.Sprintf("%s does not accept the token from %s", e.Host, e.Token)
	case Gated:
		if e.Token == "" {
			return fmt.Sprintf("%s is gated on %s, and no token was sent", e.thing(), e.Host)
		}
		return fmt.Sprintf("%s is gated on %s, and the account of the token from %s has no access", e.thing(), e.Host, e.Token)
	case Forbidden:
		return fmt.Sprintf("%s forbids %s (403)", e.Host, e.thing())
	case Disabled:
		return fmt.Sprintf("%s has disabled %s", e.Host, e.thing())
	case RepoNotFound:
		return fmt.Sprintf("%s has no %s", e.Host, Repo{ID: e.Repo.ID, Kind: e.Repo.Kind}.named())
	case RevisionNotFound:
		return fmt.Sprintf("%s of %s has no revision %q", e.Repo.named(), e.Host, e.Repo.revision())
	case FileNotFound:
		return fmt.Sprintf("%s has no %s", e.Host, e.thing())
	}
	return e.whatTransport()
}

func (r Repo) named() string { return r.Kind.String() + " " + r.ID }

func (e *Error) whatTransport() string {
	switch e.Kind {
	case Elsewhere:
		return fmt.Sprintf("%s does not serve %s itself but points to %s", e.Host, e.thing(), e.Detail)
	case Circle:
		return fmt.Sprintf("%s sends the question for %s from one address to the next without end (%v)", e.Host, e.thing(), e.Err)
	case RateLimited:
		return fmt.Sprintf("%s answers 429 for %s: too many requests from this address or account", e.Host, e.thing())
	case ServerFault:
		return fmt.Sprintf("%s answers %d for %s: a fault on its side", e.Host, e.Status, e.thing())
	case NotAHub:
		return fmt.Sprintf("%s did not answer as a model hub does for %s: %s", e.Host, e.thing(), e.Detail)
	case DNS:
		return fmt.Sprintf("the name %s has no address here: no network, or a resolver that does not know it", e.Host)
	case Refused:
		return fmt.Sprintf("%s refuses the connection: nothing listens there, or a firewall says no", e.Host)
	case TimedOut:
		return fmt.Sprintf("%s did not answer in time for %s: a slow network, or a firewall that drops packets", e.Host, e.thing())
	case TLS:
		return fmt.Sprintf("the secure connection to %s failed: often a proxy that opens connections, or a wrong clock", e.Host)
	case Proxy:
		return fmt.Sprintf("the proxy between here and %s could not be used", e.Host)
	case DiskFull:
		return fmt.Sprintf("no room on the disk of the hub cache for %s", e.thing())
	case CacheNotWritable:
		return fmt.Sprintf("the hub cache cannot be written for %s", e.thing())
	case Corrupt:
		return fmt.Sprintf("what %s sent for %s is not what it announced: %s", e.Host, e.thing(), e.Detail)
	}
	return fmt.Sprintf("the connection to %s failed for %s", e.Host, e.thing())
}

// settings that most cures point to.
const (
	setToken   = "set HF_TOKEN to a token of an account that may read it"
	setMirror  = "or set HF_ENDPOINT to a mirror, or give a local path"
	moveCache  = "set HF_HUB_CACHE to a folder on another disk"
	typeName   = "type org/name or org/name@revision; a local path starts with ./ or /"
	checkNames = "check the spelling"
)

func (e *Error) cure() string {
	switch e.Kind {
	case BadName:
		return typeName
	case BareName:
		return "type org/name, or a local path that starts with ./ or /"
	case Offline:
		return "unset " + e.Detail + ", or copy the repo into the cache from a machine that has it"
	case NoSuchOrPrivate, RepoNotFound:
		if e.Token == "" {
			return checkNames + "; if it is private, " + setToken
		}
		return checkNames + fmt.Sprintf("; if it is private, the token from %s must belong to an account that may read it", e.Token)
	case BadToken:
		return "renew it there, or unset it if the repo is public"
	case Gated:
		cure := "ask for access on the repo's page"
		if e.Page != "" {
			cure += " (" + e.Page + ")"
		}
		if e.Token == "" {
			return cure + ", then " + setToken
		}
		return cure + "; a fine-grained token also needs the right to read public gated repos"
	case Disabled:
		return "use another repo, or a copy on this machine by its path"
	case Forbidden:
		if e.Token == "" {
			return "if the repo is private or gated, " + setToken + "; else a proxy or firewall on the way forbids it: check HTTPS_PROXY, or give a local path"
		}
		return fmt.Sprintf("the token from %s needs the right to read this repo", e.Token)
	case RevisionNotFound:
		return "look the branches, tags and commits up on the repo's page, or leave @revision away for " + DefaultRevision
	case FileNotFound:
		return checkNames + ", or name another revision"
	}
	return e.cureTransport()
}

func (e *Error) cureTransport() string {
	switch e.Kind {
	case Elsewhere:
		return "set HF_ENDPOINT to that host if you trust it with your token, or type the repo's new name"
	case Circle:
		return "a login page, a proxy or a mirror that points to itself does that: check HF_ENDPOINT (http or https, host, path) and HTTPS_PROXY, or give a local path"
	case RateLimited:
		wait := "wait some minutes"
		if e.RetryAfter > 0 {
			wait = fmt.Sprintf("wait %s", e.RetryAfter)
		}
		if e.Token == "" {
			return wait + "; with HF_TOKEN set the limit is higher"
		}
		return wait
	case ServerFault:
		return "try again later, " + setMirror
	case NotAHub:
		return "check HF_ENDPOINT, and that no proxy or login page stands in between"
	case DNS, Refused, TimedOut, Network:
		return "check the network and HTTPS_PROXY, " + setMirror
	case TLS:
		return "give the proxy's certificate with SSL_CERT_FILE, or check the clock"
	case Proxy:
		return "check HTTPS_PROXY and NO_PROXY"
	case DiskFull:
		return "free some space and run again (what was downloaded is kept and continued), or " + moveCache
	case CacheNotWritable:
		return "check the rights of the folder, or " + moveCache
	case Corrupt:
		return "run again; if it stays so, a proxy or mirror alters files: set another HF_ENDPOINT"
	}
	return ""
}

// page is the path of the repo's page on the hub.
func (r Repo) page() string {
	if r.Kind == Dataset {
		return "datasets/" + r.ID
	}
	return r.ID
}
