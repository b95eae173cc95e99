# SPDX-License-Identifier: GPL-2.0-or-later
# Terminal, fonts and colours of every picture. gnuplot reads, in this order: the picture's prologue (assignments that
# `hitm plot` wrote), this file, the picture's own template, canvas.gp. `format` is given on the command line.
set encoding utf8

# Sizes are pixels of a page of 1200. A point of the cairo terminal is 4/3 pixels, one of SVG is 1 pixel.
if (format eq 'svg') {
	set terminal svg size page_width,page_height noenhanced font 'sans-serif,32' background 'white'
} else {
	set terminal pngcairo size page_width,page_height noenhanced font 'sans-serif,32' fontscale 0.75 background 'white'
}
set output picture.'.'.format

# Okabe and Ito's palette, which the colour-blind can tell apart, and greys. In the order of `enum ink`.
array palette[17] = [0xffffff, 0x000000, 0xffffff, 0x6e6e6e, 0x4d4d4d, \
	0x0072b2, 0xd55e00, \
	0xececec, 0xa9d8f5, 0xf0e442, 0xd55e00, \
	0x0072b2, 0xe69f00, 0x009e73, 0xcc79a7, 0x56b4e9, 0xd55e00]
ink(n) = palette[int(n) + 1]
series(n) = ink(11 + n)

# A colour thinned with white.
channel(rgb, shift) = (int(rgb) >> shift) & 255
thin(value, weight) = int(255 - (255 - value) * weight + 0.5)
shade(n, weight) = (thin(channel(ink(n), 16), weight) << 16) + (thin(channel(ink(n), 8), weight) << 8) + \
	thin(channel(ink(n), 0), weight)

# Texts come as numbered variables.
text(n) = value(sprintf('text_%d', int(n)))

# From pixels to the coordinates of gnuplot's screen.
across(x) = 1.0 * x / page_width
down(y) = 1 - 1.0 * y / page_height

# Dots grow with the font, by different laws.
dot = format eq 'svg' ? 0.8 : 2
shape(n) = 2 * n + 5

set border linewidth 2
set grid linewidth 2 linecolor rgb '#b8b8b8'
set tics nomirror
set format '%.6g'
set multiplot
