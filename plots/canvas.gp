# SPDX-License-Identifier: GPL-2.0-or-later
# Boxes, lines, marks and texts at their pixels, over whatever the picture's own template has drawn.
reset
unset border
unset tics
unset key
set margins at screen 0, at screen 1, at screen 0, at screen 1
set xrange [0:page_width]
set yrange [page_height:0]

# What an element of the plot does not draw lies off the page, not at NaN: gnuplot 5.4 crashes on labels without one
# valid point.
off_page = -9999
lines(style) = column(5) == style ? column(2) : off_page
texts(style) = column(4) == style ? column(2) : off_page
box_file = picture.'.boxes'
line_file = picture.'.lines'
mark_file = picture.'.marks'
text_file = picture.'.texts'

# The styles are numbered as in plot_canvas.h.
plot \
	box_file using (($1 + $3) / 2):(($2 + $4) / 2):1:3:2:4:(shade($5, $6)) \
		with boxxyerror fillstyle solid border rgb '#505050' linewidth 1 linecolor rgb variable, \
	line_file using 1:(lines(5)):3:4:(ink($6)) with vectors nohead linewidth 3 linecolor rgb variable, \
	line_file using 1:(lines(0)):3:4 with vectors nohead linewidth 9 linecolor rgb 'white', \
	line_file using 1:(lines(0)):3:4:(ink($6)) with vectors nohead linewidth 4 linecolor rgb variable, \
	line_file using 1:(lines(1)):3:4:(ink($6)) with vectors nohead linewidth 7 linecolor rgb variable, \
	line_file using 1:(lines(2)):3:4:(ink($6)) with vectors nohead linewidth 6 linecolor rgb variable, \
	line_file using 1:(lines(3)):3:4:(ink($6)) with vectors nohead linewidth 4 dashtype 2 linecolor rgb variable, \
	line_file using 1:(lines(4)):3:4:(ink($6)) with vectors nohead linewidth 4 dashtype 4 linecolor rgb variable, \
	mark_file using 1:2:(shape($3)):(ink($4)) \
		with points pointsize dot pointtype variable linecolor rgb variable, \
	text_file using 1:(texts(0)):(text($3)):(ink($5)) with labels left font ',38' textcolor rgb variable, \
	text_file using 1:(texts(1)):(text($3)):(ink($5)) with labels left font ',32' textcolor rgb variable, \
	text_file using 1:(texts(2)):(text($3)):(ink($5)) with labels right font ',29' textcolor rgb variable, \
	text_file using 1:(texts(3)):(text($3)):(ink($5)) with labels center font ',27' textcolor rgb variable, \
	text_file using 1:(texts(4)):(text($3)):(ink($5)) with labels left font ',28' textcolor rgb variable, \
	text_file using 1:(texts(5)):(text($3)):(ink($5)) with labels right rotate by 40 font ',28' textcolor rgb variable
unset multiplot
