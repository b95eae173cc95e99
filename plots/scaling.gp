# SPDX-License-Identifier: GPL-2.0-or-later
# Simulated points, and the two bounds of each curve.
set lmargin at screen across(frame_left)
set rmargin at screen across(frame_right)
set tmargin at screen down(frame_top)
set bmargin at screen down(frame_bottom)
set xrange [0:x_maximum * 1.02]
set yrange [0:y_maximum]
if (x_maximum > 12 && x_maximum <= 600 && int(x_maximum) % 6 == 0) {
	set xtics int(x_maximum) / 6
}
if (y_maximum >= 1e6) {
	set format y '%.1s%c'
}
unset key
curve_file = picture.'.curves'
plot \
	for [i = 0:curves - 1] curve_file index i using 1:3 with lines \
		linewidth 4 dashtype 2 linecolor rgb series(i), \
	for [i = 0:curves - 1] curve_file index i using 1:4 with lines \
		linewidth 4 dashtype 4 linecolor rgb series(i), \
	for [i = 0:curves - 1] curve_file index i using 1:2 with linespoints \
		linewidth 6 pointtype shape(i) pointsize dot linecolor rgb series(i)
