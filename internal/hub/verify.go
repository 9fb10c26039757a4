package hub

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"
)

// verify compares a downloaded file with what the hub announced: its size, and its checksum where
// the ETag is one (64 hex digits: sha256 of a large file; 40: git's sha1 of a small one).
func verify(path string, info FileInfo) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	stat, err := f.Stat()
	if err != nil {
		return err
	}
	corrupt := func(format string, args ...any) error {
		return &Error{Kind: Corrupt, Repo: info.Repo, File: info.File, Host: info.Host, Detail: fmt.Sprintf(format, args...)}
	}
	if info.Size >= 0 && stat.Size() != info.Size {
		return corrupt("%d bytes instead of %d", stat.Size(), info.Size)
	}
	var h hash.Hash
	switch {
	case len(info.ETag) == 64 && isHex(info.ETag):
		h = sha256.New()
	case len(info.ETag) == 40 && isHex(info.ETag):
		h = sha1.New()
		fmt.Fprintf(h, "blob %d\x00", stat.Size()) // git hashes the size with the bytes
	default:
		return nil
	}
	if _, err := io.Copy(h, f); err != nil {
		return err
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != info.ETag {
		return corrupt("its checksum is %s instead of %s", got, info.ETag)
	}
	return nil
}
