# SPDX-License-Identifier: GPL-2.0-or-later
# The frame and axis of the bars; the bars themselves lie on the canvas.
set lmargin at screen across(frame_left)
set rmargin at screen across(frame_right)
set tmargin at screen down(frame_top)
set bmargin at screen down(frame_bottom)
set xrange [x_minimum:x_maximum]
set yrange [0:1]
unset ytics
if (x_maximum >= 5000) {
	set format x '%.0s%c'
}
set grid xtics noytics
set arrow from 0, graph 0 to 0, graph 1 nohead linewidth 3 linecolor rgb 'black'
plot NaN notitle
