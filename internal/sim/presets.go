package sim

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/servemark/servemark/internal/sim/engine"
)

//go:embed presets/*.json
var presetFiles embed.FS

// Preset is a whole deployment: what it serves, how it speaks, how fast its engine is, and where each number comes from.
type Preset struct {
	Name        string        `json:"name"`
	About       string        `json:"about"`
	ServedModel string        `json:"served_model"`
	Model       string        `json:"model"`
	Adapters    []Adapter     `json:"adapters,omitempty"`
	Flavour     Flavour       `json:"flavour"`
	MaxModelLen int           `json:"max_model_len"`
	Engine      engine.Params `json:"engine"`
	Sources     []string      `json:"sources"`
}

// Presets returns the built-in presets by name in alphabetical order.
func Presets() ([]Preset, error) {
	files, err := presetFiles.ReadDir("presets")
	if err != nil {
		return nil, err
	}
	var list []Preset
	for _, f := range files {
		p, err := PresetNamed(strings.TrimSuffix(f.Name(), ".json"))
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

// PresetNamed returns one built-in preset.
func PresetNamed(name string) (Preset, error) {
	raw, err := presetFiles.ReadFile(path.Join("presets", name+".json"))
	if err != nil {
		return Preset{}, fmt.Errorf("there is no preset %q; `servemark sim --preset list` shows them", name)
	}
	var p Preset
	return p, strictJSON(raw, &p)
}

// ReadPreset reads a preset from JSON. A member "base" names the built-in preset whose values hold where the text has none.
func ReadPreset(r io.Reader) (Preset, error) {
	raw, err := io.ReadAll(r)
	if err != nil {
		return Preset{}, err
	}
	var f struct {
		Base string `json:"base"`
	}
	if err := json.Unmarshal(raw, &f); err != nil {
		return Preset{}, fmt.Errorf("preset file: %w", err)
	}
	file := struct {
		Base string `json:"base"`
		Preset
	}{}
	if f.Base != "" {
		if file.Preset, err = PresetNamed(f.Base); err != nil {
			return Preset{}, err
		}
		file.Sources = append(file.Sources, "changed by a file")
	}
	if err := strictJSON(raw, &file); err != nil {
		return Preset{}, fmt.Errorf("preset file: %w", err)
	}
	return file.Preset, file.Preset.Config().Validate()
}

func strictJSON(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// Config returns a configuration of the preset; the caller's own values may be set over it.
func (p Preset) Config() Config {
	e := p.Engine
	return Config{ServedModel: p.ServedModel, Model: p.Model, Adapters: p.Adapters, Flavour: p.Flavour, MaxModelLen: p.MaxModelLen, Engine: &e}
}
