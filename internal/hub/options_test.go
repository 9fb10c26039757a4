package hub

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func env(kv map[string]string) func(string) string {
	return func(k string) string {
		if v, ok := kv[k]; ok {
			return v
		}
		if k == "HOME" || k == "USERPROFILE" {
			return filepath.FromSlash("/home/u")
		}
		return ""
	}
}

func TestFromEnv(t *testing.T) {
	for _, c := range []struct {
		name string
		env  map[string]string
		want string // cache dir, endpoint, offline, token source
	}{
		{name: "nothing", want: "/home/u/.cache/huggingface/hub||" + "|/home/u/.cache/huggingface/token"},
		{name: "XDG", env: map[string]string{"XDG_CACHE_HOME": "/x"}, want: "/x/huggingface/hub|||/x/huggingface/token"},
		{name: "HF_HOME before XDG", env: map[string]string{"HF_HOME": "~/h", "XDG_CACHE_HOME": "/x"}, want: "/home/u/h/hub|||/home/u/h/token"},
		{name: "old cache name", env: map[string]string{"HUGGINGFACE_HUB_CACHE": "/old", "HF_HOME": "/h"}, want: "/old|||/h/token"},
		{name: "new cache name first", env: map[string]string{"HUGGINGFACE_HUB_CACHE": "/old", "HF_HUB_CACHE": "$D/new", "D": "/d"}, want: "/d/new|||/home/u/.cache/huggingface/token"},
		{name: "unset variable stays", env: map[string]string{"HF_HUB_CACHE": "/a/${NOPE}/b"}, want: "/a/${NOPE}/b|||/home/u/.cache/huggingface/token"},
		{name: "endpoint", env: map[string]string{"HF_ENDPOINT": "https://m.example/hf/", "HF_HOME": "/h"}, want: "/h/hub|https://m.example/hf||/h/token"},
		{name: "offline", env: map[string]string{"HF_HUB_OFFLINE": "yes", "HF_HOME": "/h"}, want: "/h/hub||HF_HUB_OFFLINE|/h/token"},
		{name: "offline off", env: map[string]string{"HF_HUB_OFFLINE": "0", "TRANSFORMERS_OFFLINE": "1", "HF_HOME": "/h"}, want: "/h/hub||TRANSFORMERS_OFFLINE|/h/token"},
		{name: "token", env: map[string]string{"HF_TOKEN": " hf_a\r\n", "HUGGING_FACE_HUB_TOKEN": "hf_b", "HF_HOME": "/h"}, want: "/h/hub|||HF_TOKEN"},
		{name: "old token name", env: map[string]string{"HUGGING_FACE_HUB_TOKEN": "hf_b", "HF_HOME": "/h"}, want: "/h/hub|||HUGGING_FACE_HUB_TOKEN"},
		{name: "token path", env: map[string]string{"HF_TOKEN_PATH": "~/t", "HF_HOME": "/h"}, want: "/h/hub|||/home/u/t"},
		{name: "no implicit token", env: map[string]string{"HF_TOKEN": "x", "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1", "HF_HOME": "/h"}, want: "/h/hub|||"},
		{name: "no home", env: map[string]string{"HOME": "", "USERPROFILE": ""}, want: "|||"},
	} {
		o := FromEnv(env(c.env))
		got := filepath.ToSlash(strings.Join([]string{o.CacheDir, o.Endpoint, o.Offline, o.Token.Source}, "|"))
		if got != c.want {
			t.Errorf("FromEnv(%s) = %s, want %s", c.name, got, c.want)
		}
	}
	o := FromEnv(env(map[string]string{"HF_HUB_ETAG_TIMEOUT": "3", "HF_HUB_DOWNLOAD_TIMEOUT": "x"}))
	if o.HeadTimeout != 3*time.Second || o.StallTimeout != 0 {
		t.Errorf("timeouts = %v, %v, want 3s, 0s", o.HeadTimeout, o.StallTimeout)
	}
}

func TestNewRefusesBadOptions(t *testing.T) {
	for _, c := range []struct {
		opts Options
		want string
	}{
		{Options{}, "set HF_HOME or HF_HUB_CACHE"},
		{Options{CacheDir: "x", Endpoint: "huggingface.co"}, "HF_ENDPOINT=https://"},
		{Options{CacheDir: "x", Endpoint: "ftp://h"}, "HF_ENDPOINT=https://"},
		{Options{CacheDir: "x", Endpoint: "https://u:s3cret@h:bad"}, "HF_ENDPOINT=https://"},
	} {
		_, err := New(c.opts)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("New(%q) = %v, want an error with %q and no password", c.opts.Endpoint, err, c.want)
		}
	}
}

func TestTokenNeverPrints(t *testing.T) {
	o := Options{Token: NewToken("HF_TOKEN", "hf_s3cret")}
	j, err := json.Marshal(o.Token)
	if err != nil {
		t.Fatal(err)
	}
	for _, got := range []string{fmt.Sprint(o), fmt.Sprintf("%+v", o), fmt.Sprintf("%#v", o), fmt.Sprintf("%s %q %x %d", o.Token, o.Token, o.Token, o.Token), string(j)} {
		if strings.Contains(got, "s3cret") || strings.Contains(got, "733363726574") {
			t.Errorf("a token shows its value: %s", got)
		}
	}
}

func TestTokenFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	o := FromEnv(env(map[string]string{"HF_TOKEN_PATH": path}))
	if o.Token.Present() {
		t.Error("Present() = true without a file, want false")
	}
	if err := os.WriteFile(path, []byte("hf_file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if v, err := o.Token.read(); v != "hf_file" || err != nil {
		t.Errorf("read() = %q, %v, want hf_file", v, err)
	}
	if runtime.GOOS != "windows" && os.Getuid() != 0 {
		if err := os.Chmod(path, 0); err != nil {
			t.Fatal(err)
		}
		if _, err := o.Token.read(); err == nil {
			t.Error("read() of an unreadable file = nil error, want one")
		}
	}
}
