package bench

// Images is what the data set image is asked for.
type Images struct {
	// Count is how many images a request has; with RandomCount anything from 1 to Count.
	Count       int  `json:"count"`
	RandomCount bool `json:"random_count,omitempty"`
	// Resolution is "4k", "1080p", "720p", "360p", HEIGHTxWIDTH in pixels, or "random:HxW-HxW" for sizes between two.
	Resolution string `json:"resolution"`
	// Format is "jpeg" (quality 85) or "png".
	Format string `json:"format"`
	// Blank makes images white; else every pixel is drawn.
	Blank bool `json:"blank,omitempty"`
}

// ImageBuckets is what the data set random-mm is asked for.
type ImageBuckets struct {
	// Base n and RangeRatio r draw the number of images of a request from [⌊n·(1−r)⌋, ⌈n·(1+r)⌉], at most Limit.
	Base       int     `json:"base"`
	RangeRatio float64 `json:"range_ratio"`
	Limit      int     `json:"limit"`
	// Buckets are the sizes drawn from, in their order.
	Buckets []ImageBucket `json:"buckets"`
}

// ImageBucket is a size and its share; shares need not sum to 1.
type ImageBucket struct {
	Height int `json:"height"`
	Width  int `json:"width"`
	// Frames is 1 for an image; more are a video.
	Frames int     `json:"frames"`
	Share  float64 `json:"share"`
}
