package hub

import (
	"fmt"
	"path"
	"strings"
)

// RepoKind tells which of the hub's collections a repo lives in: it decides both the folder name in
// the cache and the path in the address.
type RepoKind int

// The kinds of repo that this client reads.
const (
	Model   RepoKind = iota // models--org--name, ENDPOINT/org/name
	Dataset                 // datasets--org--name, ENDPOINT/datasets/org/name
)

// String gives the kind as the hub spells it in one word: "model" or "dataset".
func (k RepoKind) String() string {
	if k == Dataset {
		return "dataset"
	}
	return "model"
}

// DefaultRevision is the branch that a repo without a revision means.
const DefaultRevision = "main"

// Repo names one repo of a hub at one revision. The zero Revision means DefaultRevision.
//
// An ID without an organisation ("gpt2") can only be looked up in the cache: such a bare name is as
// likely the name of a served model, so it is never sent to a hub.
type Repo struct {
	ID       string // "org/name"
	Revision string // branch, tag or commit; "" is DefaultRevision
	Kind     RepoKind
}

// ParseRepo reads "org/name" or "org/name@revision" as a model repo. It refuses, each with its own
// reason, what might be something else: a path, a bare name (kind BareName), a name with a colon. Whether a
// local folder of that name exists is for the caller to ask first.
func ParseRepo(s string) (Repo, error) {
	id, revision, pinned := strings.Cut(s, "@")
	r := Repo{ID: id, Revision: revision}
	if pinned && revision == "" {
		return Repo{}, &Error{Kind: BadName, Repo: r, Detail: fmt.Sprintf("%q ends in @ without a revision", s)}
	}
	if err := r.check(); err != nil {
		return Repo{}, err
	}
	return r, nil
}

// String gives the form that ParseRepo reads: org/name, with @revision unless it is the default one.
func (r Repo) String() string {
	if r.revision() == DefaultRevision {
		return r.ID
	}
	return r.ID + "@" + r.Revision
}

// FromSnapshotPath maps a path inside a hub cache (…/models--org--name/snapshots/<40 hex>/…, with
// either separator) back to the repo it was downloaded from, pinned to that commit. A server started
// from a cached snapshot declares such a path. Nothing is opened.
func FromSnapshotPath(p string) (Repo, bool) {
	parts := strings.FieldsFunc(p, func(c rune) bool { return c == '/' || c == '\\' })
	for i := len(parts) - 3; i >= 0; i-- {
		if parts[i+1] != "snapshots" || !isCommit(parts[i+2]) {
			continue
		}
		r := Repo{Revision: parts[i+2]}
		name, isModel := strings.CutPrefix(parts[i], "models--")
		if !isModel {
			var isDataset bool
			if name, isDataset = strings.CutPrefix(parts[i], "datasets--"); !isDataset {
				continue
			}
			r.Kind = Dataset
		}
		r.ID = strings.Replace(name, "--", "/", 1)
		if r.check() == nil {
			return r, true
		}
	}
	return Repo{}, false
}

func (r Repo) revision() string {
	if r.Revision == "" {
		return DefaultRevision
	}
	return r.Revision
}

// folder is the repo's folder name in a cache: the kind's plural and the name's parts joined by "--".
func (r Repo) folder() string {
	return r.Kind.String() + "s--" + strings.ReplaceAll(r.ID, "/", "--")
}

// check tells whether the name may be sent to a hub.
func (r Repo) check() error {
	if err := r.checkLocal(); err != nil {
		return err
	}
	if !strings.Contains(r.ID, "/") {
		return &Error{Kind: BareName, Repo: r}
	}
	return nil
}

// checkLocal tells whether the name may become a folder of the cache. The rules for a name's
// letters are those of huggingface_hub's validate_repo_id, limited to ASCII.
func (r Repo) checkLocal() error {
	bad := func(format string, args ...any) error {
		return &Error{Kind: BadName, Repo: r, Detail: fmt.Sprintf(format, args...)}
	}
	switch {
	case r.ID == "":
		return bad("the name is empty")
	case strings.ContainsAny(r.ID, `\~`) || strings.HasPrefix(r.ID, "/") || strings.HasPrefix(r.ID, "."):
		return bad("%q is a path, not a repo", r.ID)
	case strings.Contains(r.ID, ":"):
		return bad("%q has a colon, which no repo name has", r.ID)
	case strings.Count(r.ID, "/") > 1:
		return bad("%q has more than one slash, so it is a path or an address, not a repo", r.ID)
	case strings.Contains(r.ID, "--") || strings.Contains(r.ID, "..") || strings.HasSuffix(r.ID, ".git"):
		return bad("%q has --, .. or ends in .git, which no repo name does", r.ID)
	}
	for part := range strings.SplitSeq(r.ID, "/") {
		if !isNamePart(part) {
			return bad("%q is not made of letters, digits, '-', '_' and '.' (96 at most, none but letters, digits and '_' at the ends)", part)
		}
	}
	if rev := r.revision(); !isRevision(rev) {
		return bad("%q cannot be a branch, tag or commit", rev)
	}
	return nil
}

func isNamePart(s string) bool {
	if s == "" || len(s) > 96 || strings.ContainsAny(s[:1]+s[len(s)-1:], "-.") {
		return false
	}
	return strings.IndexFunc(s, func(c rune) bool { return !isWord(c) && c != '-' && c != '.' }) < 0
}

func isRevision(s string) bool {
	return isRelative(s) && len(s) <= 255 &&
		strings.IndexFunc(s, func(c rune) bool { return !isWord(c) && !strings.ContainsRune("-./+=", c) }) < 0
}

func isWord(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

// isRelative tells whether a slash-separated name stays below the folder it is joined to, on every
// system that the program runs on.
func isRelative(name string) bool {
	return name != "" && !strings.ContainsAny(name, "\\:\x00") && name == path.Clean(name) &&
		name != "." && name != ".." && !strings.HasPrefix(name, "/") && !strings.HasPrefix(name, "../")
}

// isCommit tells whether a revision is a whole commit id: such a revision never changes.
func isCommit(s string) bool { return len(s) == 40 && isHex(s) }

func isHex(s string) bool {
	return strings.IndexFunc(s, func(c rune) bool { return (c < '0' || c > '9') && (c < 'a' || c > 'f') }) < 0
}
