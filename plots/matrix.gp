# SPDX-License-Identifier: GPL-2.0-or-later
# The cells of a matrix, and the key to their colours; titles and numbers lie on the canvas.
set lmargin at screen across(frame_left)
set rmargin at screen across(frame_right)
set tmargin at screen down(frame_top)
set bmargin at screen down(frame_bottom)
set xrange [-0.5:cells-0.5]
set yrange [cells-0.5:-0.5]
unset xtics
unset ytics
unset grid
set cbrange [lowest:highest]
set palette defined (0 '#d6e6f4', 0.5 '#9ecae1', 0.8 '#e69f00', 1 '#d55e00')
set colorbox user origin screen across(frame_right + 30), screen down(frame_bottom) \
	size screen across(30), screen (down(frame_top) - down(frame_bottom))
set cbtics scale 0.5
# Drawn as pixels: an image would be a file beside an SVG. Where there is no number there is no pixel.
plot picture.'.cells' matrix with image pixels notitle
