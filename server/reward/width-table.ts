/**
 * Advance widths of DejaVu Sans 2.37, made by test/tools/make-width-table.ts from the font file. Do not edit.
 *
 * Runs of equally wide characters up to U+FFFF, in base 36: `width`, or `width,gap,count` where the run does not start
 * right after the last one or is longer than one character.
 */
export const UNITS_PER_EM = 2048;

export const WIDTH_RUNS = `
i3,w,1 mt q6 1bo 107 1i2 18d fn m7,0,2 sg 1bo i3 kj i3 j6 107,0,a j6,0,2 1bo,0,3 u7 1kw 12x 131 13q 17t zy wq 183
16s gs,0,2 11b vp 1d3 16k 18s yb 18s 13j 104 yr 15n 12x 1k9 12z yr 12z m7 j6 m7 1bo sg,0,2 yv 104 va 104 z0 k1 104
102 ft,0,2 wy ft 1jf 102 yt 104,0,2 ne tn mb 102 xo 1aj xo,0,2 tv 107 j6 107 1bo i3,x,1 mt 107,0,4 j6 sg,0,2 1kw
qt yt 1bo kj 1kw sg,0,2 1bo mt,0,2 sg 107,0,2 i3 sg mt qt yt 1j5,0,3 u7 12x,0,6 1jf 13q zy,0,4 gs,0,4 183 16k
18s,0,5 1bo 18s 15n,0,4 yr yf zu yv,0,6 1jv va z0,0,4 ft,0,4 yt 102 yt,0,5 1bo yt 102,0,4 xo 104 xo 12x yv 12x yv
12x yv 13q va 13q va 13q va 13q va 17t 104 183 104 zy z0 zy z0 zy z0 zy z0 zy z0 183 104 183 104 183 104 183 104
16s 102 1g4 13j gs ft gs ft gs ft gs ft gs ft xk vm gs ft 11b wy,0,2 vp ft vp ft vp lc vp jg vz g6 16k 102 16k 102
16k 102 1aa 16k 102 18s yt 18s yt 18s yt 1ov 1m7 13j ne 13j ne 13j ne 104 tn 104 tn 104 tn 104 tn yr mb yr mb yr
mb 15n 102 15n 102 15n 102 15n 102 15n 102 15n 102 1k9 1aj yr xo yr 12z tv 12z tv 12z tv k1 104 15t 131 104 131
104 140 13q va 183 1al 131 104 yt zy 18s yy wq k1 183 132 1jz k4 gs 16f wy ft xo 1jf 16k 102 18s 1fy yt 1hz 177
113 104 13j 104 tn zy j4 mb yr mb yr 1ct 102 17h 150 16b 15k 12z tv 11w,0,2 wv tv 107 11w wv t1 104 gs s0 q4 gt
28w 21w 1to 1bj 18r pz 1gz 1gk 19d 12x yv gs ft 18s yt 15n 102 15n 102 15n 102 15n 102 15n 102 z0 12x yv 12x yv
1jf 1jv 183 104 183 104 11b wy 18s yt 18s yt 11w wv ft 28w 21w 1to 183 104 1rb 12t 16k 102 12x yv 1jf 1jv 18s yt
12x yv 12x yv zy z0 zy z0 gs ft gs ft 18s yt 18s yt 13j ne 13j ne 15n 102 15n 102 104 tn yr mb zo to 16s 102 15u
1bo 13q yq 12z tv 12x yv zy z0 18s yt 18s yt 18s yt 18s yt yr xo r0 1by r5 ft 1ks,0,2 12x 13q va vp yr tn tv yb r9
131 15n 12x zy z0 gs ft 18g 104 13j ne yr xo y5 104,0,3 v9 va 104 13m z0,0,2 1am ur u9 184 11s ft 13l 104 zt
xw,0,2 102,0,3 ft j9 l5 mi rq fu 146 1jf,0,3 10r 10j 102 yt 1ct 15f 11j nk,0,2 nj ne nd u6,0,2 yc,0,2 tn j4,0,2 q9
j4 mb,0,2 102 z5 y1 xo 1aj xo yr tv,0,2 wv,0,2 t1,0,4 18s wz 11s 14a 117 gm 11y su 15d t1,0,2 1lp 1o6 1lm 1b8 yp
18a 1c9 145 118 tb,0,2 11m 11r n0 mp 9y eq gt gu lk tb l7 fu q6 i3,0,3 hh,0,2 l1,0,2 sg,0,6 fn sg,0,3 fn sg,0,3
j6,0,2 hh,0,2 sg,0,2 m6 i2 sg,0,6 hy sg o8 9g l8 p9 l1 s2,0,5 sg,2,2 th sg,4,1 sg,3,1 0,8,28 0,1,3 0,3,2 0,1,1
0,1,7 118,d,1 wb 1d1 10u fu,0,2 16k 10z sg,2,1 v9 va v9 j6 gs sg,4,2 13e i3 16g 1dk n8 1a8,1,1 1ax,1,1 1az j9 12x
131 vp 12x zy 12z 16s 18s gs 11b 12x 1d3 16k zy 18s 16s yb zy,1,1 yr,0,2 18s 12z 18s 17h gs yr 11i ur 102 j9 wx
11i 10b xo yt ur uy 102 yt j9 xj xo 107 vs vq yt y9 104 xe 102 y9 wx 11j wv 11j 1bn j9 wx yt wx 1bn 11b yy z8 13r
1bx 13r 11j 1bn 11r 18s yt 10w xe wq q3 11j,0,2 1d8 zp 1h4 1bn 175 11i 191 yz 132 yj 17o zk 13s yt yr ui 11r 104
va ft 18s z0,0,2 yf 104 13q 1d3 111 104 140 13q 140 zy,0,2 18q yp 13q 104 gs,0,3 1q8 1ng 18q 14e 16k yo 16s 12x
131,0,2 yp 18g zy 1pa 10h 16k,0,2 14e 16s 1d3 16s 18s 16s yb 13q yr yo 1cz 12z 186 130 1ou 1q8 1bd 1e7 131 13q 1pf
13j yv z3 xj tw 13c z0 1f9 u9 10z,0,2 yd 10d 16x 117 yt 117 104 va x5 xo 1cn xo 12q xm 1g2 1hl 147 18x xj v8 1bw
y8 z0,0,2 zk tw v8 tn ft,0,3 1fc 1f4 113 yd 10z xo 117 1h4 1bn 17u 128 1hm 16m 1e1 18k 1tz 1kz 18s yt 1mf 1aw 107
ur 1cq 1dv 18s yt 18g 11u 18g 11u 1kg 1fg 1i8 175 1v4 1mh 1h4 1bn 13q va sl 0,0,5 ns,0,2 17y 12i 131 xj yb 104 yp
tw 12e xl zi u5 1pa 1f9 10h u9 14e yd 14e yd 14e yd 1cq 1bb 16s 11l 1lp 1dw 1pi 1g3 1dy 13f 13q va yr x5 yr xo yr
xo 12z xo 1h5 19w 130 xm 130 xm 130 102 1hj 15f 1hj 15f gs 1pa 1f9 11b yd 185 125 16s 11l 186 12q 130 xm 1ei 182
ft 12x yv 12x yv 1jf 1jv zy z0 18s z0 18s z0 1pa 1f9 10h u9 11w wv 16k 10z 16k 10z 18s yt 18s yt 18s yt 13q v8 yo
xo yo xo yo xo 130 xm yp tw 1e7 18x 12e xl 12z xo 12z xo 131 xj 1l8 1f1 1jg 1dg 12m xh 1oz 1ig 1rb 1j1 183 11j 17z
14g yy ur 16s 10d 1ui 1kj 1ev 1d6 1mp 1k3 18s 104 1k9 1aj 14e yd 1ph 1fi 1pi 1fw 194 12u 17l,b,1 15n 16v,0,2 15n
17x 10f 15n 1cw 16v 13b uc 1gg 1d4 15n 14q 17k 16v 17n 191 15e 15h 173 15n 14k 19j 17p 191 15n 16v 144 13h 16b ul
1a4 172 18s 18y hh,2,1 i3 dc kk dj n2 sg 1jf,1,1 102 11f 11q 102 104 ta 102 160 11f 102 fg 1jr zf 102,0,2 yl 103
zs 102 fg 102 sd 102 n0 1jf vv 10w 102,0,2 1je 102 101 oq 1je 107 yo 19t 1a6 j6,1,1 kj 0,11,e kj 0 gs 0,0,2 gs
p4,2,1 0 121,8,1 ww ng v2 116 fi jp 116 10w cq uk u3 wc 11r 12n fi ms 10x zm 10e zj up xr 14d w4 14b 11e qs,5,1 o2
it nn 10o 109,h,2 172,1,1 1jk id,1,1 0,8,1 i3,5,1 u7,3,1 qr,1,1 ft,0,2 rh ft 18j ft 1hk tt 1hk,0,2 10q,0,3 pc,0,2
rh,0,2 1xg,0,2 1ws,0,2 1gm,0,2 xy,0,2 go,5,1 1mz 185 1aw 15c z8 15s tt rh 18j,0,2 0,0,b 0,1,1 sg,2,1 uk,5,b ih i3
v0 1hk 185 0 gm,3,1 1hk,4,8 10q,0,7 pc,0,9 rh,0,2 sc u5 yq u5 rh,0,3 1xg,0,3 1ws,0,2 1gm xy 1mz,0,6 185,0,2 1ex
1ny 1ex 1aw,0,3 1ex,0,6 15c,0,4 15s,0,5 13q 10q rh,6,3 rh,2,1 18j 18j,1,1 18j,1,1 tt,4,1 uk,q,a 107,5i,a ft wi o4
xo 117,0,2 xs 117 1b5 ox,0,2 vs yt jx 1ik qw 18k 117 zk 15r u5 157 qw zk xs u5,0,2 tq xs,0,2 0,3,9 hu,0,2 vv,2,2
kj 107,18k,1 125,1t,1 12w 135,1,1 rg,2,1 zq 12w,1,1 134,2,1 123,6,1 10i 10p 11a 11h,1,1 zk,0,2 16e 17m 132,0,2
13x,1,1 134 12w 10y,1,1 zz,1,1 140,2,1 1al 100,1,1 12w 18t zz 0 uo,0,2 0,0,6 0,1,2 11q lc,2,1 11e q6 v5 ry 12c,1,1
0,1,6 107,2,1 10g,0,2 125 zk,0,2 140 125 12c 12i 1mi,2,2 1dq,ci,1 15q 12m 1bh z0 17o 16v 1g0 ps z9 1by 1e7 zj 1cm
18g zt 1fv zb za 1cm 1d9 156 zu zb zk z9 1aj 1dp z0 zg zk 158 1c1 xw 136 xw xs 160 sw,a,1 tg x2 1aj sw t6 sh 19k
tg t1 1ok tq,0,2 18q sw tg 19a tq 118 tq 1ay t6 18q tg,0,2 tq wi tq tg tl tq pu sw tg sw,0,2 tg vj 1b3 ve sw wi sw
ph if 12x,lg,4 17r,0,3 17r,1,3 1bi 1bh 1bi 1bh 1bi 1bh 1j0 1la 1j0 1la 17r 1j0 1la 1j0 1la 17r ek,1,1 uw o3,0,2
m5,0,2 md m5 qi lx ek m5,0,3 1q0 1fp 1i8 1rj 12x,0,4 15h,0,3 15h,1,3 1bi 12x 1bi 1bh 1bi 1bh 1j0 1la 1j0 1la 1j0
1la 1j0 1la 15h sx ax 15n,1,4 15j,0,3 15j,1,3 1ge 1ek 1ge 1ek 1ge 1ek 1gs 1f8 1gs 1f8 1hw 1f8 1hw 1f8 1hw op
1dx,0,2 1d9 1en zr,0,9 1cx 17u 1ad 1af 1ad 1af 1cx 17u 1cx 17u 1ad 1af 1ad 1af 1ad n5,0,2 16p 183 16p 183 zr,0,9
1cx 17u 1ad 1af 1ad 1af 1cx 17u 1cx 17u 1ad 1af 1ad 1af 1ad oq,0,2 yp vp,0,3 yp,0,3 vp,0,2 16m 17q 16g 17g 16g 17g
16m 17q 16m 17q 16g 17g 16g 17g 16g ly sx ly 1cg,2,9 1ou 1mv 1o9 1cg 1o9 1cg,0,2 y5 pr y5 1cg,0,9 1ou 1mv 1o9 1ml
1o9 1ml 1ou 1mv 1ou 1mv 1pm 1ml 1pm 1ml y5 15h,1,1 yb,0,9 1bh 16w 192 17v 192 17v 1bh 16w 1bh 16w 192 17v 192 17v
192 nt nx nt 14i,8,3 1eq,0,4 1fr 1dm 1fr 1dm 1fr 1dm 1sv 1qk 1sv 1qk 1sv 1qk 1sv 1qk 10g zo,0,9 1c1 18f 1af 1ak
1af 1ak 1c1 18f 1c1 18f 1af 1ak 1af 1ak 1af nt m5,1,1 rk 1g3,0,6 yb,0,6 1bh 16w nt 15h,1,1 12x,0,4 15b,0,4 1gk 1la
sx 15n,0,6 15j,0,4 1hw 1f8 sx 1b9,9,7 w2 16s rk 1nk,0,7 1ay 1b9,4,4 1zn,0,3 1l0,0,2 1zn,0,2 13t 1p1 1cg,9,6 y5
10l,0,7 nt zr 17t,1a,1 17n,2,1 qn,2s,2 p9,12,1 1nk 22i 2kv,0,2 268,0,2 2kv,0,2 r5,9,1 s1 14i 1gz 1tg 25x s1 14i
1gz 1tf 25x sc 14v 1he 1tx 26g s1 14i 1gw 1te 25x sc 16t 18v 1wj 1tf 12v sv su xo,19f,1 14t 1jv xc va yf,0,2 rx ur
ft mg wy x6 16x 10z yt va 12x,0,3 1m7 yt,1,2 tu y8,0,2 x5 wo 15x 1hx 10a xo 1aj tv tx x6,2,1 xo w3 tu xl 10d oi yw
ol rl,1,1 mn,0,2 rr qy ak,0,2 ni jy ux qt,0,2 s7 p0 lm ow lw q8 zf ma,0,2 n2 10v od n2 nq,0,2 ki kg n2 a6 o8 zg n9
nj l2 nj,0,2 od gs n1 qq zg nq mv,1,1 l7 lx nn kp a6 eq n1 nq mv l7 nf nn kp 104,c,1 qy l5,2,1 11y,1,1 ft,7,1
n2,l,1 l2,0,2 nj ki gv d9 n2 n1 ev e7 eu ev dc e7 dd lf zg,0,2 nd ra n9 nj,0,2 ki gb gs sw nt kk n4 nq ku ou ku mb
nj 0,4,6 12x,1i,1 yv 131 104 131 104 131 104 13q va 17t 104 17t 104 17t 104 17t 104 17t 104 zy z0 zy z0 zy z0 zy
z0 zy z0 wq k1 183 104 16s 102 16s 102 16s 102 16s 102 16s 102 gs ft gs ft 11b wy 11b wy 11b wy vp gd vp gd vp ft
vp ft 1d3 1jf 1d3 1jf 1d3 1jf 16k 102 16k 102 16k 102 16k 102 18s yt 18s yt 18s yt 18s yt yb 104 yb 104 13j ne 13j
ne 13j ne 13j ne 104 tn 104 tn 104 tn 104 tn 104 tn yr mb yr mb yr mb yr mb 15n 102 15n 102 15n 102 15n 102 15n
102 12x xo 12x xo 1k9 1aj 1k9 1aj 1k9 1aj 1k9 1aj 1k9 1aj 12z xo 12z xo yr xo 12z tv 12z tv 12z tv 102 mb 1aj xo
yv k1,0,3 17q yt 12x yv 12x yv 12x yv 12x yv 12x yv 12x yv 12x yv 12x yv 12x yv 12x yv 12x yv 12x yv zy z0 zy z0
zy z0 zy z0 zy z0 zy z0 zy z0 zy z0 gs ft gs ft 18s yt 18s yt 18s yt 18s yt 18s yt 18s yt 18s yt 1fy yt 1fy yt 1fy
yt 1fy yt 1fy yt 15n 102 15n 102 1ct 102 1ct 102 1ct 102 1ct 102 1ct 102 yr xo yr xo yr xo yr xo 17r r5 11i,4,8
12x,0,2 1dx,0,2 17r 19l 14a 169 ur,0,6 14g,2,2 1iy 1jg 1f4 1gs 102,2,8 1bm 1bj 1ps 1py 1mf 1ns 1h4 1hv j9,0,8 lm
la 104,0,2 wg y4 ru s1 yt,0,6 19r,2,1 1c9 1qa 1qk 1he 1j7 wx,2,8 18l,1,1 1kr,1,1 1ll,1,1 1f2,1,1 1bn,0,8 19n 1bz
1pz 1qb 1ht 1jb 1gf 1i6 11i,0,2 ur v7 102 118 j9,0,2 yt,0,2 wx,0,2 1bn,0,2 11i,2,8 12x,0,2 1dx,0,2 17r 19l 14a 169
102,0,8 1bm 1bj 1ps 1py 1mf 1ns 1h4 1hv 1bn,0,8 19n 1bz 1pz 1qb 1ht 1jb 1gf 1i6 11i,0,5 11i,1,2 12x,0,2 14r 13e
12x sg,0,5 102,0,2 118 102,1,2 19s 16g 1gy 1dk 16s sg,0,3 j9,0,4 j9,2,2 gs,0,2 r1 n8 sg,1,3 wx,0,4 104,0,2 wx,0,2
yr,0,2 1c3 1ax 12z sg,0,3 1bn,2,3 1bn,1,2 1hj 1a8 1gh 1az 17h sg,0,2 sg,1,1 1kw sg 1kw ir e8 9i 107 i3 bd 5o 0,0,5
kj,0,2 107 sg 1kw,0,2 sg,0,2 i3,0,4 th,0,4 sg,0,2 xk,0,2 j1 11z 1kw i3 0,0,7 bd 24c 2qq cx l9 tl cx l9 tl ja
mr,0,2 1bo rm u7 sg 19q,0,2 e8 1kw sg 9i m7,0,2 1gg 15p,0,2 sa 107 sg,0,3 j6 19q sg pl 1kw 19q 1bo xc 11q 1bo,0,2
i3 19d 1bo i3,0,2 cn 0,0,5 0,5,6 mt a6 mt,2,6 u1,0,3 dz,0,2 mo mt,0,a u1,0,3 dz,0,2 ma,1,1 nq nj p9 nq n0 o8 9g zg
mo od l8 gs 1dw,3,1 107,0,4 1jf 107 20e 1p3 1k9 18m 107,0,4 20e 107,0,4 181 107 107,2,3 107,2,1 0,i,2 0,4,2 0,3,2
0,4,1 1ly,u,2 13q 1rw 10j 1ly 1op yy 13q 1i5 1k8,1,1 16x 1cc 102,0,2 qq 13o 14z ni 1aj 19k 1n6 1kw 13o 13w 18s 19e
1ab 192 1f0 12x 1m0 1p4 1kw 12x 16d wv 17h,0,2 z2 j9 11b 12x 18q 140 1cm xo yg 18q wq 1ou qa 16e 12c qi 10o lm 1go
1vx 13y 15e 118 1ca 1a4 183 vp,0,2 yr 1al 14a z0 jz,0,2 18d,1,1 ty,2,1 1j5,1,2 25y 1j5,0,c wb gs s0 138 1gi 12x
1gh 1rp 22x 1g7 12z 1h3 1sd vp 13q 17t 1d3 ft q1 109 1a6 xo 1a5 1kd 1ul 1al xo 1as 1l0 ft va 104 1jf 1yu 17t 1yu
140 v9 13q 1j5,3,1 1bo,6,34 12x 107 tf zy,0,2 1dk 122,0,2 1dk,0,2 14u 1dk,0,2 14u 107 172,0,2 12c 1bo,0,3 j6 108
1bo zm,0,2 109,0,3 14n 1be 1bo 1f0,0,2 1bo sg,0,4 15n,0,4 tn 18w 1o5 tn 18w 1o5 tn,0,3 107,0,2 et 107 1bo,0,8 lc
1bo,0,h 1bq,0,2 1kw,0,2 1bo,0,k 1nk,0,2 qe 1bo,0,v 15n,0,3 1bo,0,4 18e,0,2 1bo,0,d 1dk,0,4 tm,0,2 1dk,0,8 1bo,0,6
1kw,0,2 1bo,0,2 tm 15n,0,3 1bo,0,2 1ao,0,4 zm i3 zm 1bo 1kw,0,5 1bo 15o,0,2 1bo,0,8 28x,0,2 1bo,0,k 1kw,0,5 1dk
14u 1dk,0,2 14u 1dk,0,2 1kw 1dk 14u 1dk 14u 1dk y9,0,2 104 1bo,0,4 rs m7,0,4 1a0,0,4 1bo t7 1kw,6,1 1bo qo,2,4
tn,0,2 1tk,2,2 28g 1tk 2a4 28g,2,1 1do j9,1y,1 104 1bn 11i,4,1 173,2,1 1tk,9,1 1do,c,1 sg,6,c 16o,0,7 tn 1bo,v,1
1hr 1do,j,1 17r,1,1 107,2,1 104,1l,2 1f0,1o,a y9,46,3k 17r,0,w 1hr,0,a 12k,0,2 1hr,0,2 vb,0,2 17r,0,4 sk,0,2
17r,0,2 sk,0,2 17r,0,4 sk,0,2 17r,0,2 sk,0,2 17r,0,5 1dn s4 1dn,0,b tz,0,2 190 1j7,0,3 m1,0,4 1dn,0,2 17r,0,4 xk
1hr,0,5 17r,0,3 1ro 1hr,0,4 1dn,0,4 17r,0,3 1b8,0,2 15o,0,2 17r 1f0 1kw 1f0,0,5 wl 1ez 1f0 1ej,0,2 127 1lm 1yv 1z5
1f0,0,3 ua 1f0,0,9 yn 1f0 yn 1f0,0,4 122 16g 10y 18l v0 1f0,0,3 14f 1f0,0,c 1nb,0,3 1f0,0,3 yx 15o,0,2 1f0,0,13 qu
10b 1f0,0,2 qu kc rj 16k 17k 1f0,0,e 1dg,0,6 1f0,0,f us 1f0,0,7 1f0,1,3 13y 1l5 1pz 1uu 1fd 1bo,0,a 1c0 1bo
15o,0,4 1cc 15o,0,2 1bo,7,4 15o,u,1 1bo,u,4 1bo,1,4 1bo,2,s 1bo,1,z 1f0,1,1 1f0,1,4 1f0,3,1 1bo,1,3 ic,0,2 um,0,2
1bo,2,l 1f0,0,a 1bo,0,l 1bo,3,o 1bo,1,e m7,6,2 s4,p,1 s6,5,2 m7,0,2 vn,0,2 1bo,4,4 1tu 29k,0,b 15o,0,74 1bo,6,2
1bo,2,2 12v,1g,2 15r,1t,2 1bo,21,1 1kw,0,7 s4,l,1 1bo,e,2 1kw,4,3 23e,9,1 tn,0,g 1bo,i,1 1bo,1m,2 1bo,h,10 1bo,d,d
1bo,1q,2 1bo,5,e 1bk,0,4 1hr,0,4 17r,0,4 1hr 1dg,4,2 1do,0,3 1ro 1dg,1a,2 vp,7f,1 ft vp yb 13j yv mb 16s 102 11b
wy 12z tv 18g 1d3 12x 18g 15s 1s6 1ip xo 118 wb 11j nk,1,1 yt rx 9y oi 104 12z xm,3k,1 xu w4 y8 xf 1ft zn 1i5 xv
yj 1i9 z9 xv 1gp xu 19v 1gz x9 xp 1gj 1i7 1b3 xw xu xk xo,0,2 zb 1gd xj xd x2 1g0 xw xu xp 10i 1f9 10s,a,1 1ei,0,2
12t 12w 105 vy 12x,0,2 zy,0,2 12u 1dr 12z rx 12z 1ei,0,2 h3 zo 16s 11b u0 12z 10o zy sl 1i7 18a 16k zb gs 18a gs
16s 100 1ei,0,2 16s i8 16m 1ei,0,2 13q 17o 12z 13q ze 12x 16s zy 18u w9 18u tb,9,1 u7,4o,1 1bo,6,1 m7,2,4 u7,8,1
1f0,68h,1s 131,h5c,1 yb,0,2 17t yr,0,2 183 11b,0,2 t4 13q 140 12z wq,0,2 1d3 16k vp 104 13j,0,2 12x,0,2 16s 183 t4
1k9 12z yr 131 12x,0,2 zy,0,2 gs 18s 15n,0,2 vp 17n h2,0,2 xx,0,2 h2,0,2 xg,0,2 104,90,1 tn k4 j9 1v4,4,1 1mh
1mj,2,1 1fk 1pf,2,1 1bw 1jk 1by 1of,a,1 1fv 1oo 1f9 1v1 1lc 18s yt 1co 14j 259 1ly 1e0 18i,r,1 12y yr x5 130,6,1
102 259,2,1 1ly s2,32,f l0,4,2 ed,0,3 lx,2,1 k9 qu,0,2 16s 102 1dy 14d yy ur rx,4,1 tn 1z3 1k1 1wg 1kb 1sz 1jt 1j9
1aj 1j9 1aj 1ik 1aj 140 v9 11b x6 12p,4,1 mb x3 oa 19w 142 259,2,1 1ly yb 104 15r 182 18s,2,1 104 yf,c,1 104 yf
104 vp,o,1 ft 15u 102 j6,5,1 le mt fn 130 rq 17y,1,1 11x 183,e,1 104 11b wy 16k 102 13j ne 104 tn 19k wt,25,1 10n
1g2 wq yb 1d3 gs 1w8 c5,e0w,1 dj em f0 f7 dj c5 dj em f0 em dj c5 dj em f0 em dj c5 dj f7 f0 em dj c5 fn 1jk,6e,4
x0,sc,2 zh 1el xa x0 115 1e6 vl x0 1uh xi xk 1dg x0 xj 1fz xk 15l x6 1dm xj 1ex xi,0,2 xl 10x xi xj y2 xk td wz x8
x0,0,2 x1 10b 1ic 1gz,1,1 19z sw,0,a tg,0,3 18r,0,5 v3,0,6 yt,hv,1 137,u2,1 zu,0,2 1j0,0,2 131 1cz 1wd,c,2 1w1 1vh
2f0 cq,5,1 0 it 106 1cp 181 1fj 17w 1bz 1cn 19x 1dt 1bo 14b,0,4 121,0,3 ww ng v2 116 k8 n3 10w,1,1 is uk u3 wc
12n,1,1 mq,1,1 10x 10e,1,1 zj xr,1,1 14d w4 14b 11e fi ww u3 zj zs 1hk,2,1 1jv fu h6 1hk 1jv fu h6 1hk 1jv fu h6
1hk 1jv fu h6 1hk 1jv fu h6 1hk 1jv fu h6 1mz 1mw r7 ss 1mz 1mw r7 ss 10q,0,2 z6 10q,0,3 z6 10q,0,3 z6 10q,0,3 z6
10q pc tv pc tv pc tv pc tv rh ve rh ve 1ex,0,2 r3 vf 1ex,0,2 r3 vf 1ex,0,2 r3 vf 1ex,0,2 r3 vf 15s 17b 15s 17b fu
h6 13q,6,1 zy u0 q8 1aw,11,1 1by r3 vf rh te rh te rh te rh,1,1 te 18j,4,1 1bf fu h6 fu h6 18j,i,1 1bf fu h6
0,e8,g 0,g,4 go,24,3 ew go go,1,a qr ft hc ft hc rh te ft hc 18j 1bf fu h6 ft hc 1hk 1jv fu h6 tt ui 1hk 1jv fu h6
1hk 1jv fu h6 10q,0,2 z6 10q,0,3 z6 10q,0,3 z6 10q pc tv pc tv rh ve rh ve 1xg 20j 1bo 1er 1xg 20j 1bo 1er 1ws 1xp
1cb 1dc 1ws 1xp 1cb 1dc 1gm 1i0 19a 1ao 1gm 1i0 19a 1ao xy ua xy rg xy ua tr rg 1mz 1mw r7 ss 185 1bg r7 ss 1aw
1by r3 vf 15c 173 hc iu z8 11v uh ww 15s 17b fu h6 tt ui u0 q8 rh te 18j 1bf 18j 1bf fu h6 wg xy wg xy wg xy wg xy
0,2,1 0,6x,4 1mc
`;
