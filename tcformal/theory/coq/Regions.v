(** Regions of agreement: where the exponents of all terms lie close together, nothing that a design cuts off is other than 0,
    its partial sums are exact, and designs of the most different kinds give the word of the exact sum, rounded once. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core.
From TC Require Import Spec Design Designs Rounding Order Error Carry Negation Chains Integers Monotone Relative Words Values Irrelevant
  Mirror Losses Accumulated Trees Summations Exact FromZero Calls.
Import ListNotations.
Open Scope R_scope.

(** * Numbers on a grid *)

(** A number of a sum: at most so many units of the grid, its exact value, and what the design has for it. *)
Record item := { bound : Z; real : R; here : val }.

Definition no_minus_zero (v : val) : Prop := forall y, v = Num y -> is_zero y = true -> neg y = false.

(** Conversions that keep multiples of 2^g up to [most] units, g from [low] to [high]. *)
Definition keeps (low high most : Z) (c : conversion) : bool :=
  (0 <=? p c)%Z && (0 <=? most)%Z && (most <=? 2 ^ (p c + 1))%Z && (emin c - p c <=? low)%Z && (negb (flushes c) || (emin c <=? low)%Z) &&
  (Z.log2 most + high <=? emax c)%Z.

(** Sums that cut nothing off terms with exponents up to g + f, zeros aside. *)
Definition cuts_nothing (low f : Z) (d : sum) : bool :=
  match carry_bits d with None => true | _ => false end &&
  match fraction_bits d with
  | None => true
  | Some b => (f <=? b)%Z && negb (normalise d) && match zero_exponent d with ZeroNone => true | ZeroOwn => false | ZeroAt z => (z <=? low + b)%Z end
  end.

Section Grid.
Variables (g f low high most : Z).
Hypothesis (Lg : (low <= g)%Z) (Hg : (g <= high)%Z).

Definition on_grid (x : R) : Prop := exists k, x = IZR k * bp g.
Definition near_num (y : num) : Prop := on_grid (V y) /\ (is_zero y = false -> (exp y <= g + f)%Z).
Definition near (t : item) : Prop :=
  exists y, here t = Num y /\ V y = real t /\ near_num y /\ Rabs (real t) <= IZR (bound t) * bp g.

Lemma near_bound t : near t -> (0 <= bound t)%Z.
Proof.
  intros [y [_ [_ [_ B]]]]. pose proof (Rabs_pos (real t)). pose proof (bpow_gt_0 radix2 g). apply le_IZR.
  destruct (Rle_or_lt 0 (IZR (bound t))) as [|N]; auto. nra.
Qed.

Lemma grid_format u x : (u <= g)%Z -> on_grid x -> generic_format radix2 (FIX_exp u) x.
Proof.
  intros H [k ->]. apply generic_format_FIX. exists (Float radix2 (k * 2 ^ (g - u)) u); [|reflexivity].
  unfold F2R; cbn. rewrite mult_IZR, <- bp_Z, Rmult_assoc, <- bpow_plus by lia. do 2 f_equal. lia.
Qed.

(** No term loses anything, and the sum is exact. *)
Lemma near_total d ts : cuts_nothing low f d = true -> Forall near_num ts ->
  total d ts = zsum (counts d ts) /\ (forall x, In x ts -> fix_rnd (alignment d) (unit_of d ts) (V x) = V x).
Proof.
  intros C N. unfold cuts_nothing in C. apply andb_prop in C. destruct C as [K C].
  destruct (carry_bits d) eqn:Kb; [easy|]. split; [now apply no_carry_exact|].
  intros x Hx. rewrite Forall_forall in N. unfold unit_of. destruct (fraction_bits d) as [b|] eqn:Fb.
  2: { apply fix_rnd_exact. intros _. now apply least_lsb_le. }
  repeat rewrite andb_true_iff in C. destruct C as [[C1 C2] C3]. apply Z.leb_le in C1. apply negb_true_iff in C2.
  destruct (N x Hx) as [Gx Ex]. destruct (largest d ts) as [e|] eqn:L.
  - unfold fix_rnd. apply round_generic; auto with typeclass_instances. apply grid_format; auto.
    destruct (largest_attained d ts e L) as [y [Hy Ey]]. unfold term_exponent in Ey. rewrite C2 in Ey.
    destruct (is_zero y) eqn:Zy.
    + destruct (zero_exponent d); try easy. injection Ey as <-. apply Z.leb_le in C3. lia.
    + injection Ey as <-. destruct (N y Hy) as [_ E]. specialize (E Zy). lia.
  - rewrite V_zero by (eapply largest_none; eauto). apply round_0. auto with typeclass_instances.
Qed.

Lemma near_sum d ts : cuts_nothing low f d = true -> Forall near_num ts ->
  IZR (total d ts) * bp (unit_of d ts) = exact_sum ts.
Proof.
  intros C N. destruct (near_total d ts C N) as [T X]. rewrite T, counts_ok. now apply Rsum_ext.
Qed.

Lemma near_count_zero d ts x : cuts_nothing low f d = true -> Forall near_num ts -> In x ts ->
  cut (alignment d) (unit_of d ts) x = 0%Z -> is_zero x = true.
Proof.
  intros C N Hx E. destruct (near_total d ts C N) as [_ X]. pose proof (cut_ok (alignment d) (unit_of d ts) x) as K.
  rewrite E, X, Rmult_0_l in K by auto. unfold V in K. pose proof (bpow_gt_0 radix2 (lsb x)).
  assert (S : IZR (signed x) = 0) by nra. apply eq_IZR in S. unfold is_zero, signed in *. apply Z.eqb_eq. destruct (neg x); lia.
Qed.

(** ** What a sum is rounded from, and the sign of a sum of 0 *)

Definition ends (c : conversion) (x : R) (v : val) : Prop :=
  exists s n u, v = convert c s n u /\ IZR n * bp u = x /\ (n <> 0%Z -> s = (n <? 0)%Z) /\ (n = 0%Z -> zsign c = Positive \/ s = false).

(** A sum of 0 is +0, or +0 where one of its terms is not -0. *)
Definition signs_ok (c : conversion) : bool :=
  match zsign c with Positive => true | _ => false end || match rho c with RD => false | _ => true end.

Lemma here_nums q : Forall near q -> exists ts, map here q = map Num ts /\ Forall near_num ts /\ exact_sum ts = Rsum (map real q).
Proof.
  induction 1 as [|t q [y [H1 [H2 [H3 _]]]] _ [ts [T1 [T2 T3]]]]; [exists []; repeat split; auto|].
  exists (y :: ts). cbn [map]. rewrite H1, T1. split; auto. split; auto. unfold exact_sum in *. cbn [map]. rewrite !Rsum_cons, H2, T3. reflexivity.
Qed.

Lemma add_ends d q : cuts_nothing low f d = true -> Forall near q ->
  signs_ok (out d) = true -> (zsign (out d) = Positive \/ exists t, In t q /\ no_minus_zero (here t)) ->
  ends (out d) (Rsum (map real q)) (sum_values d (map here q)).
Proof.
  intros C N S P. destruct (here_nums q N) as [ts [T1 [T2 T3]]]. rewrite T1, sum_values_num. unfold sum_numbers.
  eexists _, _, _. split; [reflexivity|]. split; [rewrite near_sum; auto|]. split.
  - intros Nz. unfold sign_of. apply Z.eqb_neq in Nz. now rewrite Nz.
  - intros Nz. destruct P as [P|[t [It Pt]]]; [now left|]. unfold signs_ok in S. apply orb_prop in S.
    destruct S as [S|S]; [left; now destruct (zsign (out d))|]. right. unfold sign_of. rewrite Nz. cbn [Z.eqb negb].
    destruct (forallb (Z.eqb 0) (counts d ts)) eqn:A; [|cbn [andb]; now destruct (rho (out d))].
    assert (Hin : In (here t) (map Num ts)) by (rewrite <- T1; now apply in_map). apply in_map_iff in Hin. destruct Hin as [y [Hy Iy]].
    assert (Ny : neg y = false).
    { apply (Pt y); auto. apply (near_count_zero d ts y); auto. rewrite forallb_forall in A.
      symmetry. apply Z.eqb_eq. apply A. unfold counts. now apply in_map. }
    assert (B : forallb neg ts = false).
    { apply not_true_is_false. intros B. rewrite forallb_forall in B. specialize (B y Iy). congruence. }
    rewrite B. cbn [andb orb]. destruct (forallb (fun x => negb (neg x)) ts) eqn:D; [|now destruct (rho (out d))].
    rewrite <- not_true_iff_false. intros E. apply existsb_exists in E. destruct E as [x [Ix Ex]].
    rewrite forallb_forall in D. specialize (D x Ix). now rewrite Ex in D.
Qed.

(** ** Partial sums are exact *)

Lemma grid_flt c k : (0 <= p c)%Z -> (emin c - p c <= g)%Z -> (Z.abs k <= 2 ^ (p c + 1))%Z -> generic_format radix2 (flt c) (IZR k * bp g).
Proof.
  intros P M K. assert (G : Prec_gt_0 (p c + 1)) by (unfold Prec_gt_0; lia). unfold flt.
  destruct (Z.eq_dec (Z.abs k) (2 ^ (p c + 1))) as [E|E].
  - assert (k = 2 ^ (p c + 1) \/ k = - 2 ^ (p c + 1))%Z as [->| ->] by lia.
    + rewrite <- bp_Z, <- bpow_plus by lia. apply generic_format_FLT_bpow; auto. lia.
    + rewrite opp_IZR, <- bp_Z, Ropp_mult_distr_l_reverse, <- bpow_plus by lia. apply generic_format_opp.
      apply generic_format_FLT_bpow; auto. lia.
  - apply generic_format_FLT. exists (Float radix2 k g); cbn; [reflexivity| |lia]. lia.
Qed.

(** The number that is the exact value. *)
Lemma kept_exact c s n u x : keeps low high most c = true -> IZR n * bp u = x -> on_grid x -> Rabs x <= IZR most * bp g ->
  exists z, convert c s n u = Num z /\ V z = x /\ (0 <= sig z)%Z /\
    (x = 0 -> is_zero z = true /\ neg z = match zsign c with Positive => false | IeeeSign => s | SumSign => false end) /\
    (x <> 0 -> is_zero z = false /\ neg z = (n <? 0)%Z /\ exp z = Z.max (mag radix2 x - 1) (emin c)).
Proof.
  intros K E [k Hk] B. unfold keeps in K. repeat rewrite andb_true_iff in K. destruct K as [[[[[P M0] Mp] Em] Fl] Ov].
  apply Z.leb_le in P, M0, Mp, Em, Ov. pose proof (bpow_gt_0 radix2 g) as G0.
  destruct (Z.eq_dec n 0) as [->|N].
  { rewrite Rmult_0_l in E. subst x. unfold convert. rewrite round_div_0. cbn [Z.eqb orb]. eexists. split; [reflexivity|].
    cbn [sig neg]. split; [unfold V, signed; cbn; destruct (_ && s); cbn; ring|]. split; [lia|].
    split; [|congruence]. intros _. split; [reflexivity|]. now destruct (zsign c). }
  assert (X : x <> 0).
  { rewrite <- E. apply Rmult_integral_contrapositive_currified; [now apply IZR_neq|]. pose proof (bpow_gt_0 radix2 u). lra. }
  assert (K0 : k <> 0%Z) by (intros ->; apply X; rewrite Hk; ring).
  assert (Kb : (Z.abs k <= most)%Z).
  { apply le_IZR. rewrite abs_IZR. rewrite Hk, Rabs_mult, (Rabs_pos_eq (bp g)) in B by lra. nra. }
  assert (R1 : flt_rnd c x = x).
  { unfold flt_rnd. assert (Prec_gt_0 (p c + 1)) by (unfold Prec_gt_0; lia). apply round_generic; auto with typeclass_instances.
    rewrite Hk. apply grid_flt; lia. }
  set (ex := last_bit c n u). set (r := round_div (rho c) n (ex - u)).
  assert (Q : IZR r * bp ex = x) by (unfold r, ex; rewrite round_ok, E; exact R1).
  assert (R0 : r <> 0%Z) by (intros R0; apply X; rewrite <- Q, R0; ring).
  pose proof (log2_mag r ex R0) as M. rewrite Q in M.
  pose proof (log2_mag k g K0) as Mk. rewrite <- Hk in Mk.
  assert (L0 : (0 <= Z.log2 (Z.abs k))%Z) by apply Z.log2_nonneg.
  assert (Lm : (Z.log2 (Z.abs k) <= Z.log2 most)%Z) by (apply Z.log2_le_mono; lia).
  assert (Sx : forall b, (b <= g)%Z -> bp b <= Rabs x).
  { intros b Hb. rewrite Hk, Rabs_mult, (Rabs_pos_eq (bp g)), <- abs_IZR by lra.
    apply Rle_trans with (1 * bp g); [rewrite Rmult_1_l; now apply bpow_le|]. apply Rmult_le_compat_r; [lra|]. apply IZR_le. lia. }
  exists {| neg := (r <? 0)%Z; sig := Z.abs r; exp := Z.max (Z.log2 (Z.abs r) + ex) (emin c); frac := Z.max (Z.log2 (Z.abs r) + ex) (emin c) - ex |}.
  split.
  - unfold convert. fold ex. fold r. destruct (Z.eqb_spec r 0) as [|_]; [easy|]. cbn [orb].
    assert (NF : flushes c && ((Z.log2 (Z.abs r) + ex <? emin c)%Z || tiny c && is_tiny c n u) = false).
    { destruct (flushes c); [|easy]. cbn [negb orb andb] in *. apply Z.leb_le in Fl. apply orb_false_iff. split; [apply Z.ltb_ge; lia|].
      destruct (tiny c); [|easy]. cbn [andb]. rewrite is_tiny_ok, E by auto. apply Rlt_bool_false. unfold flx_rnd.
      assert (Prec_gt_0 (p c + 1)) by (unfold Prec_gt_0; lia). apply abs_round_ge_generic; auto with typeclass_instances.
      - apply generic_format_bpow. unfold FLX_exp. lia.
      - apply Sx. lia. }
    rewrite NF. destruct (Z.ltb_spec (emax c) (Z.log2 (Z.abs r) + ex)); [lia|reflexivity].
  - cbn [sig neg exp]. split; [|split; [lia|split; [easy|]]].
    + unfold V, signed, lsb; cbn [neg sig exp frac]. replace (if (r <? 0)%Z then (- Z.abs r)%Z else Z.abs r) with r by (destruct (Z.ltb_spec r 0); lia).
      rewrite <- Q. do 2 f_equal. lia.
    + intros _. split; [unfold is_zero; cbn; apply Z.eqb_neq; lia|]. split; [|f_equal; lia].
      assert (S : IZR r * bp ex = IZR n * bp u) by (rewrite Q, E; reflexivity). symmetry. now apply scaled_neg with u ex.
Qed.

(** The same as a part of later sums. *)
Lemma kept_near c s n u x b : keeps low high most c = true -> IZR n * bp u = x -> on_grid x -> Rabs x <= IZR b * bp g ->
  (b <= most)%Z -> (Z.log2 most <= f)%Z -> (emin c <= low + f)%Z -> near {| bound := b; real := x; here := convert c s n u |}.
Proof.
  intros K E G B Bm Lf Ef. pose proof (bpow_gt_0 radix2 g) as G0.
  assert (B' : Rabs x <= IZR most * bp g) by (eapply Rle_trans; [exact B|]; apply Rmult_le_compat_r; [lra|now apply IZR_le]).
  destruct (kept_exact c s n u x K E G B') as [z [Hz [Vz [Sz [Z0 Z1]]]]]. unfold keeps in K. repeat rewrite andb_true_iff in K.
  exists z. cbn [here real bound]. split; auto. split; auto. split; [|exact B]. split; [now rewrite Vz|].
  intros NZ. assert (X : x <> 0) by (intros X; destruct (Z0 X); congruence). destruct (Z1 X) as [_ [_ ->]].
  destruct G as [k Hk]. assert (K0 : k <> 0%Z) by (intros ->; apply X; rewrite Hk; ring).
  pose proof (log2_mag k g K0) as Mk. rewrite <- Hk in Mk. rewrite Mk.
  assert (Kb : (Z.abs k <= most)%Z).
  { apply le_IZR. rewrite abs_IZR. rewrite Hk, Rabs_mult, (Rabs_pos_eq (bp g)) in B' by lra. nra. }
  assert (Z.log2 (Z.abs k) <= Z.log2 most)%Z by (apply Z.log2_le_mono; lia). lia.
Qed.

Lemma ends_plus c x v b : keeps low high most c = true -> ends c x v -> on_grid x -> Rabs x <= IZR b * bp g -> (b <= most)%Z ->
  no_minus_zero v.
Proof.
  intros K [s [n [u [Hv [E [S1 S2]]]]]] G B Bm y Hy Zy. pose proof (bpow_gt_0 radix2 g) as G0.
  assert (B' : Rabs x <= IZR most * bp g) by (eapply Rle_trans; [exact B|]; apply Rmult_le_compat_r; [lra|now apply IZR_le]).
  destruct (kept_exact c s n u x K E G B') as [z [Hz [Vz [Sz [Z0 Z1]]]]]. rewrite <- Hv, Hy in Hz. injection Hz as <-.
  destruct (Req_dec x 0) as [X|X].
  - destruct (Z0 X) as [_ ->]. assert (H : n = 0%Z).
    { rewrite X in E. pose proof (bpow_gt_0 radix2 u). apply eq_IZR. nra. }
    destruct (S2 H) as [->| ->]; auto. now destruct (zsign c).
  - destruct (Z1 X) as [NZ _]. congruence.
Qed.

(** ** Partial sums, in any of the orders below *)

Definition part_sum (d : sum) : bool :=
  cuts_nothing low f d && keeps low high most (out d) && (emin (out d) <=? low + f)%Z && (Z.log2 most <=? f)%Z.

Lemma items_bound q : Forall near q -> on_grid (Rsum (map real q)) /\ Rabs (Rsum (map real q)) <= IZR (zsum (map bound q)) * bp g /\ (0 <= zsum (map bound q))%Z.
Proof.
  induction 1 as [|t q Ht _ [G [B P]]]; [cbn; rewrite Rabs_R0; split; [exists 0%Z; ring|split; [lra|lia]]|].
  pose proof (near_bound t Ht) as P'. destruct Ht as [y [_ [Vy [[[k Gk] _] Bt]]]]. cbn [map]. rewrite Rsum_cons.
  change (zsum (bound t :: map bound q)) with (bound t + zsum (map bound q))%Z. rewrite plus_IZR. destruct G as [m Gm]. split.
  - exists (k + m)%Z. rewrite plus_IZR, <- Vy, Gk, Gm. ring.
  - split; [|lia]. eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.

Lemma add_near d q : part_sum d = true -> Forall near q -> (zsum (map bound q) <= most)%Z ->
  near {| bound := zsum (map bound q); real := Rsum (map real q); here := sum_values d (map here q) |}.
Proof.
  intros P N B. unfold part_sum in P. repeat rewrite andb_true_iff in P. destruct P as [[[C K] E] L]. apply Z.leb_le in E, L.
  destruct (items_bound q N) as [G [R _]]. destruct (here_nums q N) as [ts [T1 [T2 T3]]]. rewrite T1, sum_values_num.
  apply kept_near; auto. rewrite near_sum; auto.
Qed.

Lemma chain_near d q : part_sum d = true -> Forall near q -> forall t, near t -> (bound t + zsum (map bound q) <= most)%Z ->
  near {| bound := bound t + zsum (map bound q); real := real t + Rsum (map real q); here := chain_of (Stage d) (here t) (map here q) |}.
Proof.
  intros P. induction 1 as [|x q Hx N IH]; intros t Ht B.
  - cbn. rewrite Rplus_0_r, Z.add_0_r. destruct t; exact Ht.
  - cbn [map] in B |- *. change (zsum (bound x :: map bound q)) with (bound x + zsum (map bound q))%Z in *.
    destruct (items_bound q N) as [_ [_ Pq]].
    assert (A : near {| bound := bound t + bound x; real := real t + real x; here := sum_values d [here t; here x] |}).
    { pose proof (add_near d [t; x] P ltac:(auto) ltac:(cbn; lia)) as A. cbn in A. now rewrite Z.add_0_r, Rplus_0_r in A. }
    specialize (IH _ A ltac:(cbn; lia)). cbn [bound real here] in IH. rewrite Rsum_cons.
    replace (bound t + (bound x + zsum (map bound q)))%Z with (bound t + bound x + zsum (map bound q))%Z by ring.
    replace (real t + (real x + Rsum (map real q))) with (real t + real x + Rsum (map real q)) by ring. exact IH.
Qed.

Definition last_sum (how : summation) : option sum :=
  match how with OneSum (Stage l) | CLast _ _ (Stage l) => Some l | _ => None end.
Definition has_inner (how : summation) : bool := match how with CLast _ _ _ => true | _ => false end.
Definition inner_ok (how : summation) : bool :=
  match how with OneSum _ => true | CLast (Together | Chain) (Stage s) _ => part_sum s | _ => false end.

Lemma block_ends how r fs l q c : last_sum how = Some l -> inner_ok how = true -> cuts_nothing low f l = true -> signs_ok (out l) = true ->
  near c -> Forall near q -> q <> [] -> zsign (out l) = Positive \/ no_minus_zero (here c) ->
  (has_inner how = true -> (zsum (map bound q) <= most)%Z) ->
  ends (out l) (real c + Rsum (map real q)) (block_sum how r None fs (map here q) (here c)).
Proof.
  intros L I C S Hc Fq NE P B. destruct how as [[d|d x]| | | | | | |i [s|s x] [d|d y]|]; try easy; injection L as ->; cbn [block_sum add_from add inner_ok has_inner] in *; try (destruct i; easy).
  - change [here c] with (map here [c]). rewrite <- map_app.
    replace (real c + Rsum (map real q)) with (Rsum (map real (q ++ [c]))) by (rewrite map_app, Rsum_app; cbn; ring).
    apply add_ends; auto. { apply Forall_app; auto. } destruct P as [P|P]; [now left|right]. exists c. split; auto. apply in_or_app. right. now left.
  - specialize (B eq_refl).
    assert (N : near {| bound := zsum (map bound q); real := Rsum (map real q); here := inner_sum i (Stage s) None (map here q) |}).
    { destruct i; try easy.
      - now apply add_near.
      - destruct q as [|x q]; [easy|]. apply Forall_cons_iff in Fq. destruct Fq as [Hx Fq]. now apply (chain_near s q I Fq x Hx). }
    pose proof (add_ends l [_; c] C ltac:(constructor; [exact N|auto]) S) as A. cbn [map real here Rsum fold_right] in A.
    replace (real c + Rsum (map real q)) with (Rsum (map real q) + (real c + 0)) by ring. apply A.
    destruct P as [P|P]; [now left|right]. exists c. split; auto. right. now left.
Qed.

(** ** The blocks of a call *)

Definition whole_design (d : design) : bool :=
  match cutting_of d with Whole => true | _ => false end && negb (skips d) && match c_rule d, zero_terms (factors d) with Kept, None => true | _, _ => false end &&
  (0 <? block d)%nat.

Definition element_item (d : design) (b : Z) (e : element) : item := {| bound := b; real := term_value d e; here := term d e |}.

Lemma block_value_whole d v b : whole_design d = true ->
  block_value d v b = block_sum (sums d) (c_rule d) None (whole_factors d (ordered d b)) (map (term d) (ordered d b)) v.
Proof.
  intros W. unfold whole_design in W. repeat rewrite andb_true_iff in W. destruct W as [[[Cu Sk] Zt] _].
  destruct (cutting_of d) eqn:Ct; try easy. apply negb_true_iff in Sk. destruct (c_rule d) eqn:Cr; try easy.
  destruct (zero_terms (factors d)) eqn:Z0; [easy|]. unfold block_value, skipped, terms. rewrite Sk, Ct. cbn [andb fst snd].
  unfold taken_c. now rewrite Z0, zero_as_none, Cr, flush_kept.
Qed.

Lemma zsum_const b (l : list element) : zsum (map (fun _ => b) l) = (Z.of_nat (length l) * b)%Z.
Proof. induction l as [|x l IH]; [reflexivity|]. cbn [map length]. change (zsum (b :: map (fun _ => b) l)) with (b + zsum (map (fun _ => b) l))%Z. rewrite IH. lia. Qed.

Lemma ordered_items d b l : Forall (fun e => near (element_item d b e)) l ->
  Forall near (map (element_item d b) (ordered d l)) /\ Rsum (map real (map (element_item d b) (ordered d l))) = Rsum (map (term_value d) l) /\
  zsum (map bound (map (element_item d b) (ordered d l))) = (Z.of_nat (length l) * b)%Z /\ map here (map (element_item d b) (ordered d l)) = map (term d) (ordered d l) /\
  length (ordered d l) = length l.
Proof.
  intros N. rewrite !map_map. cbn [real bound here element_item].
  assert (Lo : length (ordered d l) = length l) by (unfold ordered; destruct (odd_first d); auto using swapped_length).
  split; [|split; [|split; [|split; auto]]].
  - rewrite Forall_map. apply Forall_forall. intros e He. rewrite Forall_forall in N. apply N. unfold ordered in He. destruct (odd_first d); auto. now apply swapped_incl.
  - unfold ordered. destruct (odd_first d); auto. apply swapped_sum.
  - now rewrite zsum_const, Lo.
Qed.

Lemma in_turn_ends d l b : whole_design d = true -> last_sum (sums d) = Some l -> inner_ok (sums d) = true ->
  cuts_nothing low f l = true -> signs_ok (out l) = true -> (0 <= b)%Z ->
  forall bs c, bs <> [] -> Forall (fun x => x <> []) bs -> Forall (Forall (fun e => near (element_item d b e))) bs ->
  near c -> zsign (out l) = Positive \/ no_minus_zero (here c) ->
  (has_inner (sums d) = true -> (bound c + Z.of_nat (length (concat bs)) * b <= most)%Z) ->
  (tl bs <> [] -> part_sum l = true /\ (bound c + Z.of_nat (length (concat (removelast bs))) * b <= most)%Z) ->
  ends (out l) (real c + Rsum (map (term_value d) (concat bs))) (in_turn d bs (here c)).
Proof.
  intros W L I C S B0. induction bs as [|x r IH]; intros c NE Fn Fb Hc P Bi Bl; [easy|].
  apply Forall_cons_iff in Fn. destruct Fn as [Nx Fn]. apply Forall_cons_iff in Fb. destruct Fb as [Fx Fb].
  destruct (ordered_items d b x Fx) as [O1 [O2 [O3 [O4 O5]]]]. pose proof (near_bound c Hc) as Bc.
  assert (One : ends (out l) (real c + Rsum (map (term_value d) x)) (block_value d (here c) x)).
  { rewrite block_value_whole, <- O4, <- O2 by auto. apply block_ends; auto.
    - intros Q. apply map_eq_nil in Q. rewrite Q in O5. now destruct x.
    - intros H. specialize (Bi H). rewrite O3. cbn [concat] in Bi. rewrite app_length, Nat2Z.inj_add, Z.mul_add_distr_r in Bi.
      assert (0 <= Z.of_nat (length (concat r)) * b)%Z by (apply Z.mul_nonneg_nonneg; lia). lia. }
  unfold in_turn. cbn [fold_left concat]. rewrite map_app, Rsum_app. destruct r as [|y r].
  - cbn. rewrite Rplus_0_r. exact One.
  - destruct (Bl ltac:(easy)) as [Ps Bp]. set (R := y :: r) in *. assert (RL : removelast (x :: R) = x :: removelast R) by reflexivity.
    rewrite RL in Bp. change (concat (x :: removelast R)) with (x ++ concat (removelast R)) in Bp. rewrite app_length, Nat2Z.inj_add, Z.mul_add_distr_r in Bp.
    assert (P1 : (0 <= Z.of_nat (length (concat (removelast R))) * b)%Z) by (apply Z.mul_nonneg_nonneg; lia). destruct (items_bound _ O1) as [G1 [R1 _]]. rewrite O2, O3 in *.
    set (c' := {| bound := bound c + Z.of_nat (length x) * b; real := real c + Rsum (map (term_value d) x); here := block_value d (here c) x |}).
    assert (Gc : on_grid (real c')).
    { destruct Hc as [z [_ [Vz [[[k Hk] _] _]]]]. destruct G1 as [m Hm]. exists (k + m)%Z. cbn. rewrite plus_IZR, <- Vz, Hk, Hm. ring. }
    assert (Rc : Rabs (real c') <= IZR (bound c') * bp g).
    { destruct Hc as [z [_ [_ [_ Bz]]]]. cbn. rewrite plus_IZR. eapply Rle_trans; [apply Rabs_triang|]. lra. }
    unfold part_sum in Ps. repeat rewrite andb_true_iff in Ps. destruct Ps as [[[_ K] E] Lm]. apply Z.leb_le in E, Lm.
    assert (Bm : (bound c' <= most)%Z) by (cbn; lia).
    assert (Nc : near c').
    { destruct One as [s [n [u [Hv [En _]]]]]. unfold c'. rewrite Hv. apply kept_near; auto. }
    assert (Pc : no_minus_zero (here c')) by (apply (ends_plus (out l) (real c') (here c') (bound c')); auto).
    assert (T := IH c' ltac:(easy) Fn Fb Nc ltac:(right; exact Pc)). cbn [bound real here] in T. unfold in_turn in T. cbn [c' real here] in T.
    rewrite <- Rplus_assoc. apply T.
    + intros H. specialize (Bi H). change (concat (x :: R)) with (x ++ concat R) in Bi. rewrite app_length, Nat2Z.inj_add, Z.mul_add_distr_r in Bi.
      change (bound c') with (bound c + Z.of_nat (length x) * b)%Z. lia.
    + intros H. split; [unfold part_sum; rewrite C, K; cbn; apply andb_true_intro; split; now apply Z.leb_le|].
      change (bound c') with (bound c + Z.of_nat (length x) * b)%Z. lia.
Qed.
End Grid.

(** * Terms of words *)

(** A number's exponent lies between g + w and g + w + s, or it is 0. *)
Definition close (g w s : Z) (x : num) : Prop := is_zero x = false -> (g + w <= exp x <= g + w + s)%Z.

(** Another form of a number, whose exponent is at most as large. *)
Definition form_of (x y : num) : Prop := V y = V x /\ is_zero y = is_zero x /\ (is_zero x = false -> (exp y <= exp x)%Z).

Lemma form_refl x : form_of x x.
Proof. repeat split; auto. lia. Qed.

Lemma form_trans x y z : form_of x y -> form_of y z -> form_of x z.
Proof. intros [A [B C]] [A' [B' C']]. split; [congruence|]. split; [congruence|]. intros N. rewrite <- B in N. specialize (C' N). rewrite B in N. specialize (C N). lia. Qed.

(** The factors of a design are those of the words, in whatever form, and their products are its terms. *)
Definition plain_factors (d : design) : bool :=
  let q := factors d in
  format_ok (a_format d) && format_ok (b_format d) && (exponent_step q =? 1)%Z && negb (odd_negated q || even_negated q) &&
  match of_a q, of_b q with Kept, Kept => true | _, _ => false end &&
  match zero_terms q, product_limit q, product_rounding q, scales d with None, None, None, None => true | _, _, _, _ => false end &&
  match converted d with None => true | Some h => (least_exponent h <=? least (a_format d))%Z && (least_exponent h <=? least (b_format d))%Z end.

Lemma in_format_form h f w x : format_ok f = true -> (least_exponent h <= least f)%Z -> decode f w = Num x -> form_of x (in_format h x).
Proof.
  intros O L D. destruct (decode_num _ _ _ O D) as [S [F [Lx _]]]. unfold in_format, at_exponent. set (e := if is_zero x then _ else _).
  split; [|split; [reflexivity|]].
  - unfold V, signed, lsb; cbn. do 2 f_equal. lia.
  - intros N. cbn [exp]. unfold e. rewrite N. unfold own_exponent, lsb.
    assert (Z.log2 (Z.abs (sig x)) <= frac x)%Z; [|lia]. unfold is_zero in N. apply Z.eqb_neq in N. rewrite Z.abs_eq by lia.
    unfold format_ok in O. apply andb_prop in O. assert (sig x < 2 ^ (frac x + 1))%Z by (rewrite F; lia).
    assert (Z.log2 (sig x) < frac x + 1)%Z by (apply Z.log2_lt_pow2; lia). lia.
Qed.

Lemma normalised_form x : (0 <= sig x)%Z -> form_of x (normalised x).
Proof.
  intros P. unfold normalised. destruct (is_subnormal x) eqn:S; [|apply form_refl]. unfold is_subnormal in S. apply andb_prop in S.
  destruct S as [N L]. apply negb_true_iff in N. apply Z.ltb_lt in L. set (up := (frac x - Z.log2 (sig x))%Z). assert (U : (0 <= up)%Z) by (unfold up; lia).
  pose proof (pow2_pos up U) as P2. split; [|split].
  - unfold V, signed, lsb; cbn. replace (if neg x then (- (sig x * 2 ^ up))%Z else (sig x * 2 ^ up)%Z) with ((if neg x then - sig x else sig x) * 2 ^ up)%Z by (destruct (neg x); ring).
    rewrite mult_IZR, <- bp_Z, Rmult_assoc, <- bpow_plus by lia. do 2 f_equal. lia.
  - unfold is_zero in *. cbn. apply Z.eqb_neq in N. rewrite (proj2 (Z.eqb_neq _ _) N). apply Z.eqb_neq. nia.
  - intros _. cbn. lia.
Qed.

Lemma operand_form d r f w x : plain_factors d = true -> f = a_format d \/ f = b_format d -> r = Kept -> decode f w = Num x ->
  exists y, factor (factors d) r (operand d f w) = Num y /\ form_of x y.
Proof.
  intros P Hf -> D. unfold plain_factors in P. repeat rewrite andb_true_iff in P. destruct P as [[[[[[Oa Ob] St] _] _] _] Cv].
  assert (Of : format_ok f = true) by (destruct Hf as [-> | ->]; auto). unfold operand, factor. rewrite D, St, flush_kept.
  assert (A : exists y, match converted d with Some g => on_num (in_format g) (Num x) | None => Num x end = Num y /\ form_of x y /\ (0 <= sig y)%Z).
  { destruct (decode_num _ _ _ Of D) as [S _]. destruct (converted d) as [h|].
    - apply andb_prop in Cv. destruct Cv as [C1 C2]. apply Z.leb_le in C1, C2. exists (in_format h x). split; [reflexivity|].
      split; [apply (in_format_form h f w); auto; destruct Hf as [-> | ->]; auto|]. cbn. lia.
    - exists x. split; auto. split; [apply form_refl|lia]. }
  destruct A as [y [-> [Fy Sy]]]. destruct (normalise_factors (factors d)).
  - exists (normalised y). split; [reflexivity|]. eapply form_trans; [exact Fy|]. now apply normalised_form.
  - exists y. auto.
Qed.

Lemma times_form x y x' y' : form_of x x' -> form_of y y' -> form_of (times x y) (times x' y').
Proof.
  intros [A [B C]] [A' [B' C']]. split; [rewrite !V_times; congruence|].
  assert (Zt : forall a b, is_zero (times a b) = is_zero a || is_zero b).
  { intros a b. unfold is_zero, times; cbn. destruct (Z.eqb_spec (sig a) 0) as [->|Na], (Z.eqb_spec (sig b) 0) as [->|Nb]; rewrite ?Z.mul_0_r; auto.
    apply Z.eqb_neq. nia. }
  rewrite !Zt. split; [congruence|]. intros N. apply orb_false_iff in N. destruct N as [N1 N2]. specialize (C N1). specialize (C' N2). cbn. lia.
Qed.

Definition pair_value (fa fb : format) (w : Z * Z) : R := V (num_of (decode fa (fst w))) * V (num_of (decode fb (snd w))).
Definition pair_close (fa fb : format) (g w s : Z) (p : Z * Z) : Prop :=
  exists x y, decode fa (fst p) = Num x /\ decode fb (snd p) = Num y /\ close g w s (times x y).

(** A product in units of the grid, at most; and c. *)
Definition product_units (fa fb : format) (w s : Z) : Z :=
  ((2 ^ (fbits fa + 1) - 1) * (2 ^ (fbits fb + 1) - 1) * 2 ^ (s + w - (fbits fa + fbits fb)))%Z.
Definition c_units (fc : format) (w s : Z) : Z := ((2 ^ (fbits fc + 1) - 1) * 2 ^ (s + w - fbits fc))%Z.

Lemma num_near g f w s x y most : (0 <= s)%Z -> (frac x <= w)%Z -> (s + w <= f)%Z -> close g w s x -> (0 <= sig x <= most)%Z -> form_of x y ->
  near g f {| bound := most * 2 ^ (s + w - frac x); real := V x; here := Num y |}.
Proof.
  intros S0 Fx Sf C Sx [A [B E]]. exists y. cbn. split; auto. split; auto. destruct (is_zero x) eqn:Z0.
  - rewrite (V_zero x Z0) in A. rewrite (V_zero x Z0), Rabs_R0. split; [split|].
    + exists 0%Z. rewrite A. ring. + congruence.
    + pose proof (bpow_ge_0 radix2 g). pose proof (pow2_pos (s + w - frac x) ltac:(lia)). apply Rmult_le_pos; auto. apply IZR_le. nia.
  - specialize (C Z0). specialize (E eq_refl). split; [split|].
    + exists (signed x * 2 ^ (lsb x - g))%Z. rewrite A. unfold V. rewrite mult_IZR, <- bp_Z, Rmult_assoc, <- bpow_plus by (unfold lsb; lia).
      do 2 f_equal. lia.
    + intros _. lia.
    + unfold V. rewrite Rabs_mult, <- abs_IZR, (Rabs_pos_eq (bp _)) by apply bpow_ge_0.
      assert (Ab : Z.abs (signed x) = sig x) by (unfold signed; destruct (neg x); lia). rewrite Ab.
      apply Rle_trans with (IZR most * bp (g + w + s - frac x)).
      * apply Rmult_le_compat; [apply IZR_le; lia|apply bpow_ge_0|apply IZR_le; lia|]. apply bpow_le. unfold lsb. lia.
      * apply Req_le. rewrite mult_IZR, <- bp_Z, Rmult_assoc, <- bpow_plus by lia. do 2 f_equal. lia.
Qed.

Lemma element_near d g f w s e : plain_factors d = true -> (0 <= s)%Z -> (fbits (a_format d) + fbits (b_format d) <= w)%Z -> (s + w <= f)%Z ->
  scaled_by e = [] -> pair_close (a_format d) (b_format d) g w s (a_word e, b_word e) ->
  near g f (element_item d (product_units (a_format d) (b_format d) w s) e) /\
  term_value d e = pair_value (a_format d) (b_format d) (a_word e, b_word e).
Proof.
  intros P S0 W Sf Sc [x [y [Dx [Dy C]]]]. cbn [fst snd] in *.
  assert (K : of_a (factors d) = Kept /\ of_b (factors d) = Kept /\ zero_terms (factors d) = None /\ (forall k, subtracted (factors d) k = false) /\
    product_limit (factors d) = None /\ product_rounding (factors d) = None /\ format_ok (a_format d) = true /\ format_ok (b_format d) = true).
  { unfold plain_factors in P. repeat rewrite andb_true_iff in P. destruct P as [[[[[[Oa Ob] _] Od] Kp] Nn] _].
    destruct (of_a (factors d)), (of_b (factors d)); try easy. destruct (zero_terms (factors d)); try easy.
    destruct (product_limit (factors d)); try easy. destruct (product_rounding (factors d)); try easy. apply negb_true_iff, orb_false_elim in Od. destruct Od as [Od Ev]. repeat split; auto.
    intros k. unfold subtracted. rewrite Od, Ev. now destruct (Z.odd k). }
  destruct K as [Ka [Kb [Zt [Od [Pl [Pr [Oa Ob]]]]]]].
  destruct (operand_form d (of_a (factors d)) (a_format d) (a_word e) x P (or_introl eq_refl) Ka Dx) as [x' [Ax Fx]].
  destruct (operand_form d (of_b (factors d)) (b_format d) (b_word e) y P (or_intror eq_refl) Kb Dy) as [y' [Ay Fy]].
  assert (T : term d e = Num (times x' y')).
  { unfold term, scaled_product, a_of, b_of. rewrite Ax, Ay, Zt, zero_as_none, Od, Sc, Pl, Pr. reflexivity. }
  pose proof (times_form x y x' y' Fx Fy) as Ft.
  assert (Tv : term_value d e = V (times x y)) by (unfold term_value; rewrite T; exact (proj1 Ft)).
  destruct (decode_num _ _ _ Oa Dx) as [Sx [Frx _]]. destruct (decode_num _ _ _ Ob Dy) as [Sy [Fry _]].
  split.
  - unfold element_item. rewrite Tv, T. unfold product_units. rewrite <- Frx, <- Fry. change (frac x + frac y)%Z with (frac (times x y)).
    apply num_near; auto; [cbn; lia|]. cbn. rewrite Frx, Fry. split; [apply Z.mul_nonneg_nonneg; lia|apply Z.mul_le_mono_nonneg; lia].
  - rewrite Tv, V_times. unfold pair_value. cbn [fst snd]. now rewrite Dx, Dy.
Qed.

(** * Calls *)

Definition call (ps : list (Z * Z)) (c : Z) : words := {| pairs := ps; c_word := c; scale_words := [] |}.

(** Calls of k products each, from the word of the one before. *)
Definition calls (d : design) (k : nat) (ps : list (Z * Z)) (c : Z) : Z :=
  fold_left (fun c b => compute d (call b c)) (cut_list (length ps) k ps) c.

Lemma elements_of_call d ps c e : scales d = None -> In e (elements d (call ps c)) -> scaled_by e = [] /\ In (a_word e, b_word e) ps.
Proof.
  intros S H. unfold elements in H. rewrite S in H. apply in_map_iff in H. destruct H as [[k [a b]] [<- H]]. cbn. split; auto.
  rewrite <- (numbered_snd ps 0). change (a, b) with (snd (k, (a, b))). now apply in_map.
Qed.

Lemma elements_values d ps c (G : Z * Z -> R) : scales d = None -> map (fun e => G (a_word e, b_word e)) (elements d (call ps c)) = map G ps.
Proof.
  intros S. unfold elements. rewrite S, map_map. cbn [pairs call]. rewrite <- (numbered_snd ps 0) at 2. rewrite map_map. apply map_ext.
  now intros [k [a b]].
Qed.

(** The products of a composition's parts are those of the call, each once. *)
Definition each_once (n : nat) (l : list nat) : bool := (length l =? n)%nat && forallb (fun i => existsb (Nat.eqb i) l) (seq 0 n).

Lemma each_once_ok n l : each_once n l = true -> Permutation (seq 0 n) l.
Proof.
  unfold each_once. intros H. apply andb_prop in H. destruct H as [L H]. apply Nat.eqb_eq in L.
  apply NoDup_Permutation_bis; [apply seq_NoDup|rewrite seq_length; lia|].
  intros i Hi. rewrite forallb_forall in H. specialize (H i Hi). apply existsb_exists in H. destruct H as [j [J E]]. apply Nat.eqb_eq in E. now subst.
Qed.

Lemma at_k_all xs : map (at_k xs) (seq 0 (length xs)) = xs.
Proof.
  induction xs as [|x r IH] using rev_ind; [reflexivity|]. rewrite app_length, Nat.add_1_r, seq_S, map_app. f_equal.
  - transitivity (map (at_k r) (seq 0 (length r))); [|exact IH]. apply map_ext_in. intros i Hi. apply in_seq in Hi. unfold at_k. now rewrite app_nth1 by lia.
  - cbn. unfold at_k. now rewrite app_nth2, Nat.sub_diag by lia.
Qed.

Lemma Rsum_perm l m : Permutation l m -> Rsum l = Rsum m.
Proof. unfold Rsum. induction 1; cbn; lra. Qed.

Lemma cut_list_full {A} n : (0 < n)%nat -> forall k (l : list A), (length l <= k)%nat -> Forall (fun b => b <> []) (cut_list k n l).
Proof.
  intros Hn. induction k as [|k IH]; intros [|x r] L; cbn [cut_list]; try constructor.
  - destruct n; [lia|easy].
  - apply IH. rewrite skipn_length. cbn [length] in *. lia.
Qed.

(** Products before the last block. *)
Definition before_last (n k : nat) : nat := (n * ((k - 1) / n))%nat.

Lemma before_last_ok {A} n : (0 < n)%nat -> forall k (l : list A), (length l <= k)%nat ->
  length (concat (removelast (cut_list k n l))) = before_last n (length l) /\ (tl (cut_list k n l) <> [] -> (n < length l)%nat).
Proof.
  intros Hn. unfold before_last. induction k as [|k IH]; intros l L.
  - destruct l; [|cbn in L; lia]. cbn. rewrite Nat.div_0_l by lia. split; [lia|easy].
  - destruct l as [|x r]; [cbn; rewrite Nat.div_0_l by lia; split; [lia|easy]|]. set (l := x :: r) in *.
    change (cut_list (S k) n l) with (firstn n l :: cut_list k n (skipn n l)). destruct (le_lt_dec (length l) n) as [H|H].
    + rewrite skipn_all2 by auto. replace (cut_list k n []) with (@nil (list A)) by now destruct k. cbn [removelast concat tl length].
      split; [|easy]. rewrite Nat.div_small; [lia|]. unfold l in *. cbn [length] in *. lia.
    + destruct (IH (skipn n l)) as [I1 _]; [rewrite skipn_length; unfold l in *; cbn [length] in *; lia|].
      assert (NE : cut_list k n (skipn n l) <> []).
      { intros Q. assert (length (skipn n l) <= k)%nat by (rewrite skipn_length; unfold l in *; cbn [length] in *; lia).
        assert (C := concat_cut n Hn k (skipn n l) H0). rewrite Q in C. cbn in C. assert (length (skipn n l) = O) by now rewrite <- C. rewrite skipn_length in H1. lia. }
      split; [|auto]. destruct (cut_list k n (skipn n l)) as [|b bs] eqn:Q; [easy|].
      change (removelast (firstn n l :: b :: bs)) with (firstn n l :: removelast (b :: bs)). cbn [concat]. rewrite app_length, I1, firstn_length, skipn_length.
      replace (length l - 1)%nat with ((length l - n - 1) + 1 * n)%nat by lia. rewrite Nat.div_add by lia. rewrite Nat.min_l by lia. lia.
Qed.

Definition final (d : design) : option sum :=
  match last_sum (sums d), composed d with Some _, Some how => Some (addition how) | o, _ => o end.

Definition plus_zero_of (f : format) : bool :=
  match decode f 0 with Num x => is_zero x && negb (neg x) | _ => false end.

(** What a design needs for terms of a spread: grids from 2^low to 2^high, exponents up to f above the grid's, partial sums up to
    [most] units, products up to [b] and c up to [bc]; calls of k products, n in all. *)
Definition side (low f high most b bc : Z) (k n : nat) (zero : bool) (d : design) : bool :=
  plain_factors d && whole_design d && (0 <=? b)%Z && (0 <=? bc)%Z && (0 <? k)%nat && (n mod k =? 0)%nat &&
  match last_sum (sums d), final d with
  | Some l, Some e =>
      inner_ok f low high most (sums d) && cuts_nothing low f l && signs_ok (out l) && cuts_nothing low f e && signs_ok (out e) &&
      (negb (has_inner (sums d)) || (bc + Z.of_nat n * b <=? most)%Z) &&
      ((k <=? block d)%nat || part_sum f low high most l && (bc + Z.of_nat (n - k + before_last (block d) k) * b <=? most)%Z) &&
      ((n =? k)%nat || part_sum f low high most e && (bc + Z.of_nat (n - k) * b <=? most)%Z && holds (d_format d) (out e)) &&
      match composed d with
      | None => zero || match zsign (out l) with Positive => true | _ => false end
      | Some how => part_sum f low high most l && (bc + Z.of_nat n * b <=? most)%Z && each_once k (concat (parts how)) && plus_zero_of (d_format d) &&
          match of_sum how, of_c how with Kept, Kept => true | _, _ => false end
      end
  | _, _ => false
  end.

Lemma element_items g f d b l : Forall (fun e => near g f (element_item d b e)) l ->
  on_grid g (Rsum (map (term_value d) l)) /\ Rabs (Rsum (map (term_value d) l)) <= IZR (Z.of_nat (length l) * b) * bp g.
Proof.
  intros F. assert (Fi : Forall (near g f) (map (element_item d b) l)) by now rewrite Forall_map.
  destruct (items_bound g f _ Fi) as [G [B _]]. rewrite (map_map (element_item d b) bound) in B. rewrite (map_map (element_item d b) real) in G, B.
  unfold element_item in G, B. cbn [real bound] in G, B. rewrite zsum_const in B. split; [exact G|exact B].
Qed.

Section Calls.
Variables (g f low high most b w s : Z) (d : design) (k n : nat) (zero : bool) (bc : Z).
Hypothesis (Lg : (low <= g)%Z) (Hg : (g <= high)%Z) (S0 : (0 <= s)%Z) (Wf : (fbits (a_format d) + fbits (b_format d) <= w)%Z) (Sf : (s + w <= f)%Z).
Hypothesis (Hb : b = product_units (a_format d) (b_format d) w s).
Hypothesis (Sd : side low f high most b bc k n zero d = true).

Notation pv := (pair_value (a_format d) (b_format d)).

Lemma side_bounds : (0 <= b)%Z /\ (0 <= bc)%Z /\ (0 < k)%nat /\ (0 < block d)%nat /\ scales d = None.
Proof.
  unfold side in Sd. repeat rewrite andb_true_iff in Sd. destruct Sd as [[[[[[P W] B0] C0] K0] _] _].
  unfold whole_design in W. repeat rewrite andb_true_iff in W. destruct W as [_ W]. unfold plain_factors in P. repeat rewrite andb_true_iff in P.
  destruct P as [[_ P] _]. apply Z.leb_le in B0, C0. apply Nat.ltb_lt in K0, W. split; auto. split; auto. split; auto. split; auto.
  destruct (zero_terms (factors d)); try easy. destruct (product_limit (factors d)); try easy. destruct (product_rounding (factors d)); try easy. now destruct (scales d).
Qed.

Lemma elements_near ps cw : Forall (pair_close (a_format d) (b_format d) g w s) ps ->
  Forall (fun e => near g f (element_item d b e)) (elements d (call ps cw)) /\ map (term_value d) (elements d (call ps cw)) = map pv ps.
Proof.
  intros Fp. destruct side_bounds as [B0 [_ [_ [_ Sc]]]]. unfold side in Sd. repeat rewrite andb_true_iff in Sd. destruct Sd as [[[[[[P _] _] _] _] _] _].
  assert (A : forall e, In e (elements d (call ps cw)) -> near g f (element_item d b e) /\ term_value d e = pv (a_word e, b_word e)).
  { intros e He. destruct (elements_of_call d ps cw e Sc He) as [E1 E2]. rewrite Hb. apply element_near; auto. rewrite Forall_forall in Fp. now apply Fp. }
  split; [apply Forall_forall; intros e He; now apply A|]. rewrite <- (elements_values d ps cw pv Sc). apply map_ext_in. intros e He. now apply A.
Qed.

Lemma call_ends e ps cw c : final d = Some e -> length ps = k -> Forall (pair_close (a_format d) (b_format d) g w s) ps ->
  near g f c -> here c = decode (c_format d) cw -> (bound c <= bc + Z.of_nat (n - k) * b)%Z -> (k <= n)%nat ->
  (composed d = None -> zsign (out e) = Positive \/ no_minus_zero (here c)) ->
  ends (out e) (real c + Rsum (map pv ps)) (value d (call ps cw)).
Proof.
  intros Fe Lp Fp Nc Hc Bc Kn Pc. destruct side_bounds as [B0 [_ [K0 [Bn Sc]]]]. destruct (elements_near ps cw Fp) as [Fx Vx].
  unfold side in Sd. rewrite Fe in Sd. destruct (last_sum (sums d)) as [l|] eqn:L; [|unfold final in Fe; rewrite L in Fe; easy].
  repeat rewrite andb_true_iff in Sd. destruct Sd as [[[[[[Pf W] _] _] _] _] [[[[[[[[Io C] Sg] Ce] Se] Bi] Bb] _] Co]].
  set (xs := elements d (call ps cw)) in *. assert (Lx : length xs = k) by (unfold xs; rewrite elements_length; exact Lp).
  assert (NB : (0 <= Z.of_nat (n - k) * b)%Z) by (apply Z.mul_nonneg_nonneg; lia).
  assert (NK : (Z.of_nat n * b = Z.of_nat (n - k) * b + Z.of_nat k * b)%Z) by (rewrite <- Z.mul_add_distr_r; f_equal; lia).
  assert (KB : (0 <= Z.of_nat k * b)%Z) by (apply Z.mul_nonneg_nonneg; lia).
  unfold value. fold xs. clearbody xs. destruct (composed d) as [how|] eqn:Cp.
  - repeat rewrite andb_true_iff in Co. destruct Co as [[[[Ps Bt] Eo] Z0] Kp]. apply Z.leb_le in Bt.
    destruct (of_sum how) eqn:Os; try easy. destruct (of_c how) eqn:Oc; try easy. rewrite !flush_kept, parts_in_turn.
    unfold final in Fe. rewrite L, Cp in Fe. injection Fe as <-.
    unfold plus_zero_of in Z0. destruct (decode (d_format d) 0) as [x0| |] eqn:D0; try easy. apply andb_prop in Z0. destruct Z0 as [Zx Zn]. apply negb_true_iff in Zn.
    set (BS := concat (map (fun k => let xs0 := map (at_k xs) k in cut_list (length xs0) (block d) xs0) (parts how))).
    assert (CB : concat BS = map (at_k xs) (concat (parts how))).
    { unfold BS. clear -Bn. induction (parts how) as [|p r IH]; [reflexivity|]. cbn [map concat]. rewrite concat_app, map_app, IH. f_equal. now apply concat_cut. }
    assert (Pm : Permutation xs (concat BS)).
    { rewrite CB. rewrite <- (at_k_all xs) at 1. rewrite Lx. apply Permutation_map. now apply each_once_ok. }
    assert (FB : Forall (fun e => near g f (element_item d b e)) (concat BS)) by (eapply Permutation_Forall; eauto).
    assert (LB : length (concat BS) = k) by (rewrite <- (Permutation_length Pm); exact Lx).
    set (c0 := {| bound := 0; real := 0; here := Num x0 |}).
    assert (N0 : near g f c0).
    { exists x0. cbn. split; auto. rewrite V_zero by auto. split; auto. split; [split|].
      - exists 0%Z. rewrite V_zero by auto. ring.
      - congruence.
      - rewrite Rabs_R0. lra. }
    assert (E : ends (out l) (real c0 + Rsum (map (term_value d) (concat BS))) (in_turn d BS (here c0))).
    { apply in_turn_ends with (f := f) (low := low) (high := high) (most := most) (b := b) (g := g); auto.
      - intros Q. rewrite Q in LB. cbn in LB. lia.
      - unfold BS. clear -Bn. induction (parts how) as [|p r IH]; [constructor|]. cbn [map concat]. apply Forall_app. split; auto. now apply cut_list_full.
      - apply Forall_forall. intros blk Hb'. apply Forall_forall. intros x Hx. rewrite Forall_forall in FB. apply FB. apply in_concat. eauto.
      - right. intros y Hy Zy. cbn in Hy. injection Hy as <-. exact Zn.
      - intros _. cbn [bound c0]. rewrite LB. lia.
      - intros _. split; auto. cbn [bound c0].
        assert (length (concat (removelast BS)) <= k)%nat.
        { rewrite <- LB. destruct BS as [|x r] eqn:Q using rev_ind; [cbn; lia|]. clear IHr. rewrite removelast_last, concat_app, app_length. lia. }
        nia. }
    cbn [real here c0] in E. rewrite Rplus_0_l in E.
    set (t := {| bound := Z.of_nat k * b; real := Rsum (map (term_value d) (concat BS)); here := in_turn d BS (Num x0) |}).
    assert (Rt : Rsum (map (term_value d) (concat BS)) = Rsum (map pv ps)).
    { rewrite <- Vx. apply Rsum_perm. apply Permutation_map. now apply Permutation_sym. }
    destruct (element_items g f d b (concat BS) FB) as [Gt Bd]. rewrite LB in Bd.
    assert (Ps' := Ps). unfold part_sum in Ps'. repeat rewrite andb_true_iff in Ps'. destruct Ps' as [[[_ Kl] El] Lm]. apply Z.leb_le in El, Lm.
    assert (Nt : near g f t).
    { destruct E as [s' [n' [u [Hv [En _]]]]]. unfold t. rewrite Hv. apply kept_near with (low := low) (high := high) (most := most); auto. lia. }
    assert (Pt : no_minus_zero (here t)).
    { apply (ends_plus g low high most Lg Hg (out l) (real t) (here t) (bound t)); auto. cbn. lia. }
    assert (A : ends (out (addition how)) (Rsum (map real [t; c])) (sum_values (addition how) (map here [t; c]))).
    { apply (add_ends g f low Lg); auto. right. exists t. split; auto. now left. }
    cbn [map real here t Rsum fold_right] in A. rewrite Rt in A. change (c_word (call ps cw)) with cw. rewrite <- Hc.
    replace (real c + Rsum (map pv ps)) with (Rsum (map pv ps) + (real c + 0)) by ring. exact A.
  - assert (Hl : l = e) by (unfold final in Fe; rewrite L, Cp in Fe; congruence). subst l. cbv zeta. change (c_word (call ps cw)) with cw. rewrite <- Hc.
    change (values d xs (here c)) with (in_turn d (cut_list (length xs) (block d) xs) (here c)).
    assert (Cc : concat (cut_list (length xs) (block d) xs) = xs) by (apply concat_cut; auto).
    rewrite <- Vx.
    assert (T : ends (out e) (real c + Rsum (map (term_value d) (concat (cut_list (length xs) (block d) xs)))) (in_turn d (cut_list (length xs) (block d) xs) (here c))).
    { apply in_turn_ends with (f := f) (low := low) (high := high) (most := most) (b := b) (g := g); auto.
      - intros Q. rewrite Q in Cc. cbn in Cc. rewrite <- Cc in Lx. cbn in Lx. lia.
      - now apply cut_list_full.
      - apply Forall_forall. intros blk Hb'. apply Forall_forall. intros x Hx. rewrite Forall_forall in Fx. apply Fx. rewrite <- Cc. apply in_concat. eauto.
      - intros H. rewrite H in Bi. cbn in Bi. apply Z.leb_le in Bi. rewrite Cc, Lx. lia.
      - intros H. destruct (before_last_ok (block d) Bn (length xs) xs (le_n _)) as [L1 L2]. specialize (L2 H). rewrite Lx in L2.
        apply orb_prop in Bb. destruct Bb as [Bb|Bb]; [apply Nat.leb_le in Bb; lia|]. apply andb_prop in Bb. destruct Bb as [Bb1 Bb2]. apply Z.leb_le in Bb2.
        split; auto. rewrite L1, Lx. rewrite Nat2Z.inj_add, Z.mul_add_distr_r in Bb2. lia. }
    rewrite Cc in T. exact T.
Qed.

Lemma calls_end e : final d = Some e -> c_format d = d_format d \/ (n = k)%nat -> forall bs cw c,
  bs <> [] -> Forall (fun ps => length ps = k) bs -> Forall (Forall (pair_close (a_format d) (b_format d) g w s)) bs ->
  near g f c -> here c = decode (c_format d) cw -> (bound c + Z.of_nat (length bs * k) * b <= bc + Z.of_nat n * b)%Z -> (length bs * k <= n)%nat ->
  (composed d = None -> zsign (out e) = Positive \/ no_minus_zero (here c)) ->
  exists m v, fold_left (fun c x => compute d (call x c)) bs cw = encode (d_format d) m v /\ ends (out e) (real c + Rsum (map pv (concat bs))) v.
Proof.
  intros Fe Sf'. destruct side_bounds as [B0 [C0 [K0 [Bn Sc]]]].
  induction bs as [|ps r IH]; intros cw c NE Lb Fb Nc Hc Bc Ln Pc; [easy|].
  apply Forall_cons_iff in Lb. destruct Lb as [Lp Lr]. apply Forall_cons_iff in Fb. destruct Fb as [Fp Fr].
  cbn [length] in Bc, Ln. assert (NB : (0 <= Z.of_nat (length r * k) * b)%Z) by (apply Z.mul_nonneg_nonneg; lia).
  assert (NK : (Z.of_nat n * b = Z.of_nat (n - k) * b + Z.of_nat k * b)%Z) by (rewrite <- Z.mul_add_distr_r; f_equal; lia).
  assert (SK : (Z.of_nat (S (length r) * k) * b = Z.of_nat k * b + Z.of_nat (length r * k) * b)%Z) by (rewrite <- Z.mul_add_distr_r; f_equal; lia).
  assert (E : ends (out e) (real c + Rsum (map pv ps)) (value d (call ps cw))) by (apply call_ends; auto; lia).
  destruct (compute_value d (call ps cw)) as [m Hm]. cbn [fold_left concat]. rewrite map_app, Rsum_app. destruct r as [|ps' r].
  - exists m, (value d (call ps cw)). split; auto. cbn. now rewrite Rplus_0_r.
  - assert (n <> k) by (cbn [length] in Ln; nia). destruct Sf' as [Sf'|]; [|easy].
    assert (Pe : part_sum f low high most e = true /\ (bc + Z.of_nat (n - k) * b <= most)%Z /\ holds (d_format d) (out e) = true).
    { unfold side in Sd. rewrite Fe in Sd. destruct (last_sum (sums d)); [|now rewrite andb_false_r in Sd].
      repeat rewrite andb_true_iff in Sd. destruct Sd as [_ [[_ Bk] _]]. apply orb_prop in Bk. destruct Bk as [Bk|Bk]; [apply Nat.eqb_eq in Bk; easy|].
      repeat rewrite andb_true_iff in Bk. destruct Bk as [[Bk1 Bk2] Bk3]. apply Z.leb_le in Bk2. auto. }
    destruct Pe as [Pe [Be Ho]]. assert (Pe' := Pe). unfold part_sum in Pe'. repeat rewrite andb_true_iff in Pe'. destruct Pe' as [[[_ Ke] Ee] Lm]. apply Z.leb_le in Ee, Lm.
    destruct (elements_near ps cw Fp) as [Fx Vx].
    destruct (element_items g f d b _ Fx) as [Gi Bi]. rewrite Vx in Gi, Bi. rewrite elements_length in Bi. change (length (pairs (call ps cw))) with (length ps) in Bi. rewrite Lp in Bi.
    set (x := real c + Rsum (map pv ps)) in *. set (bx := (bound c + Z.of_nat k * b)%Z).
    assert (Gx : on_grid g x).
    { destruct Nc as [z [_ [Vz [[[i Hi] _] _]]]]. destruct Gi as [j Hj]. exists (i + j)%Z. unfold x. rewrite plus_IZR, <- Vz, Hi, Hj. ring. }
    assert (Bx : Rabs x <= IZR bx * bp g).
    { destruct Nc as [z [_ [_ [_ Bz]]]]. unfold x, bx. rewrite plus_IZR. eapply Rle_trans; [apply Rabs_triang|]. lra. }
    assert (Bxm : (bx <= most)%Z).
    { assert (Z.of_nat k * b <= Z.of_nat (length (ps' :: r) * k) * b)%Z by (apply Z.mul_le_mono_nonneg_r; auto; cbn [length]; nia). unfold bx. lia. }
    assert (Nx : near g f {| bound := bx; real := x; here := value d (call ps cw) |}).
    { destruct E as [s' [n' [u [Hv [En _]]]]]. rewrite Hv. apply kept_near with (low := low) (high := high) (most := most); auto. }
    assert (Px : no_minus_zero (value d (call ps cw))) by (apply (ends_plus g low high most Lg Hg (out e) x _ bx); auto).
    assert (Nw : near g f {| bound := bx; real := x; here := decode (c_format d) (compute d (call ps cw)) |} /\ no_minus_zero (decode (c_format d) (compute d (call ps cw)))).
    { destruct Nx as [z [Hz [Vz [[Gz Ez] Bz]]]]. cbn [here real bound] in *. destruct E as [s' [n' [u [Hv _]]]]. rewrite Hv in Hz.
      destruct (encode_decode _ _ _ _ _ _ m Ho Hz) as [y [Dy [Vy [Ny Ey]]]]. rewrite Hm, Hv, Hz, Sf', Dy.
      assert (Zy : is_zero y = is_zero z).
      { destruct (is_zero z) eqn:Zz.
        - rewrite (V_zero z Zz) in Vy. unfold V in Vy. pose proof (bpow_gt_0 radix2 (lsb y)). assert (H1 : IZR (signed y) = 0) by nra.
          apply eq_IZR in H1. unfold is_zero, signed in *. apply Z.eqb_eq. destruct (neg y); lia.
        - apply not_true_is_false. intros Zy. rewrite (V_zero y Zy) in Vy. symmetry in Vy. unfold V in Vy. pose proof (bpow_gt_0 radix2 (lsb z)). assert (H1 : IZR (signed z) = 0) by nra.
          apply eq_IZR in H1. unfold is_zero, signed in *. apply Z.eqb_neq in Zz. destruct (neg z); lia. }
      split.
      - exists y. cbn. split; auto. split; [congruence|]. split; auto. split; [now rewrite Vy|]. intros Q. rewrite Ey. apply Ez. congruence.
      - intros y' Hy' Q. injection Hy' as <-. rewrite Ny. apply (Px z); [congruence|]. congruence. }
    destruct Nw as [Nw Pw].
    destruct (IH (compute d (call ps cw)) _ ltac:(easy) Lr Fr Nw eq_refl) as [m' [v' [M1 M2]]].
    + cbn [bound]. unfold bx. lia.
    + cbn [length] in *. lia.
    + intros _. right. exact Pw.
    + exists m', v'. split; auto. cbn [real] in M2. unfold x in M2. now rewrite <- Rplus_assoc.
Qed.
End Calls.

(** * Two designs *)

Lemma convert_not_nan c s n u : is_nan (convert c s n u) = false.
Proof. unfold convert. destruct (_ || _); [reflexivity|]. destruct (_ <? _)%Z; [destruct (is_infinite _ _); reflexivity|reflexivity]. Qed.

Definition conversion_eq_dec (c e : conversion) : {c = e} + {c <> e}.
Proof. repeat decide equality. Defined.

Definition format_eq_dec (c e : format) : {c = e} + {c <> e}.
Proof. repeat decide equality. Defined.

Lemma encode_form fd n m x y : V x = V y -> exp x = exp y -> neg x = neg y -> (0 <= sig x)%Z -> (0 <= sig y)%Z ->
  encode fd n (Num x) = encode fd m (Num y).
Proof.
  intros Hv He Hn Sx Sy. unfold encode.
  assert (T : round_div RZ (sig x) (frac x - fbits fd) = round_div RZ (sig y) (frac y - fbits fd)).
  { rewrite !round_div_ok. f_equal. apply Rmult_eq_reg_r with (bp (exp x - fbits fd)); [|pose proof (bpow_gt_0 radix2 (exp x - fbits fd)); lra].
    rewrite !Rmult_assoc, <- !bpow_plus.
    replace (- (frac x - fbits fd) + (exp x - fbits fd))%Z with (lsb x) by (unfold lsb; lia).
    replace (- (frac y - fbits fd) + (exp x - fbits fd))%Z with (lsb y) by (unfold lsb; lia).
    unfold V, signed in Hv. rewrite Hn in Hv. destruct (neg y); [rewrite !opp_IZR in Hv; lra|exact Hv]. }
  rewrite T, He, Hn. reflexivity.
Qed.

(** Both conversions are the same, or keep every sum and have one least exponent. *)
Definition one_result (low high all : Z) (c e : conversion) : bool :=
  (if conversion_eq_dec c e then true else false) || (keeps low high all c && keeps low high all e && (emin c =? emin e)%Z).

Lemma ends_word g low high all x c e v u fd n m : (0 <= fbits fd)%Z -> (low <= g)%Z -> (g <= high)%Z -> one_result low high all c e = true ->
  on_grid g x -> Rabs x <= IZR all * bp g -> ends c x v -> ends e x u -> encode fd n v = encode fd m u.
Proof.
  intros Pf Lg Hg O G B [s [i [j [-> [E [S1 S2]]]]]] [s' [i' [j' [-> [E' [S1' S2']]]]]]. unfold one_result in O. apply orb_prop in O.
  assert (Zi : (i =? 0)%Z = (i' =? 0)%Z) by (apply scaled_zero with j j'; congruence).
  assert (Ni : (i <? 0)%Z = (i' <? 0)%Z) by (apply scaled_neg with j j'; congruence).
  destruct O as [O|O].
  - destruct (conversion_eq_dec c e) as [<-|]; [|easy].
    assert (Q : convert c s i j = convert c s' i' j').
    { destruct (Z.eqb_spec i 0) as [->|N].
      - symmetry in Zi. apply Z.eqb_eq in Zi. subst i'. destruct (S2 eq_refl) as [P|P], (S2' eq_refl) as [P'|P'].
        4: { subst s s'. apply convert_ext; auto. congruence. }
        all: rewrite (convert_zero c s j j'); unfold convert; rewrite round_div_0; cbn [Z.eqb orb]; first [now rewrite P|now rewrite P'].
      - symmetry in Zi. apply Z.eqb_neq in Zi. apply convert_ext; [congruence|]. rewrite S1, S1' by auto. exact Ni. }
    rewrite Q. apply encode_not_nan. apply convert_not_nan.
  - repeat rewrite andb_true_iff in O. destruct O as [[K K'] Em]. apply Z.eqb_eq in Em.
    destruct (kept_exact g low high all Lg Hg c s i j x K E G B) as [z [Hz [Vz [Sz [Z0 Z1]]]]].
    destruct (kept_exact g low high all Lg Hg e s' i' j' x K' E' G B) as [y [Hy [Vy [Sy [Y0 Y1]]]]]. rewrite Hz, Hy.
    destruct (Req_dec x 0) as [X|X].
    + destruct (Z0 X) as [Z0' N1]. destruct (Y0 X) as [Y0' N2].
      assert (i = 0%Z) by (rewrite X in E; pose proof (bpow_gt_0 radix2 j); apply eq_IZR; nra).
      assert (i' = 0%Z) by (rewrite X in E'; pose proof (bpow_gt_0 radix2 j'); apply eq_IZR; nra).
      assert (M1 : neg z = false) by (rewrite N1; destruct (S2 H) as [->| ->]; auto; now destruct (zsign c)).
      assert (M2 : neg y = false) by (rewrite N2; destruct (S2' H0) as [->| ->]; auto; now destruct (zsign e)).
      unfold is_zero in *. apply Z.eqb_eq in Z0', Y0'. unfold encode. rewrite Z0', Y0', !round_div_0, M1, M2.
      pose proof (pow2_pos (fbits fd) Pf). destruct (Z.ltb_spec 0 (2 ^ fbits fd)); [reflexivity|lia].
    + destruct (Z1 X) as [_ [N1 X1]]. destruct (Y1 X) as [_ [N2 X2]]. apply encode_form; auto; congruence.
Qed.

(** The words of a dot product whose terms lie within a spread: exponents from E - s to E, and from [lo] to [hi]; zeros aside. *)
Definition within (lo hi s E : Z) (x : num) : Prop := is_zero x = false -> (E - s <= exp x <= E /\ lo <= exp x <= hi)%Z.
Definition pair_within (fa fb : format) (lo hi s E : Z) (p : Z * Z) : Prop :=
  exists x y, decode fa (fst p) = Num x /\ decode fb (snd p) = Num y /\ within lo hi s E (times x y).
Definition c_within (fc : format) (lo hi s E : Z) (c : Z) : Prop := exists x, decode fc c = Num x /\ within lo hi s E x.

(** The side condition on two designs [a] and [b] of calls of [ka] and [kb] products, [n] in all; [zero]: c is +0; [fa], [fb]: so
    far may exponents lie above the grid in each; partial sums have up to [ma] and [mb] units. *)
Definition region_ok (a b : design) (ka kb n : nat) (zero : bool) (lo hi s fa ma fb mb : Z) : bool :=
  let w := Z.max (fbits (a_format a) + fbits (b_format a)) (if zero then 0 else fbits (c_format a)) in
  let low := (lo - w)%Z in
  let high := (Z.max lo (hi - s) - w)%Z in
  let pb := product_units (a_format a) (b_format a) w s in
  let bc := if zero then 0%Z else c_units (c_format a) w s in
  (0 <=? s)%Z && (lo <=? hi)%Z && (s + w <=? fa)%Z && (s + w <=? fb)%Z && (0 <? n)%nat && format_ok (c_format a) &&
  (negb zero || plus_zero_of (c_format a)) &&
  (if format_eq_dec (a_format a) (a_format b) then true else false) && (if format_eq_dec (b_format a) (b_format b) then true else false) &&
  (if format_eq_dec (c_format a) (c_format b) then true else false) && (if format_eq_dec (d_format a) (d_format b) then true else false) &&
  (0 <=? fbits (d_format a))%Z &&
  ((if format_eq_dec (c_format a) (d_format a) then true else false) || (n =? ka)%nat && (n =? kb)%nat) &&
  side low fa high ma pb bc ka n zero a && side low fb high mb pb bc kb n zero b &&
  match final a, final b with
  | Some l, Some e => one_result low high (bc + Z.of_nat n * pb) (out l) (out e)
  | _, _ => false
  end.

(** Two designs give the same word of all finite operands whose terms other than zero have exponents within s of each other:
    of both, blocks and calls of any length, nothing is cut and partial sums are exact, and the last roundings are one, or exact too.
    Nor does the order of the products matter. *)
Theorem agreement_in_any_order a b ka kb n zero lo hi s fa ma fb mb E ps qs c :
  region_ok a b ka kb n zero lo hi s fa ma fb mb = true -> length ps = n -> Permutation ps qs ->
  Forall (pair_within (a_format a) (b_format a) lo hi s E) ps ->
  c_within (c_format a) lo hi s E c -> (zero = true -> c = 0%Z) ->
  calls a ka ps c = calls b kb qs c.
Proof.
  intros O Ln Pq Fp Cw Zc. unfold region_ok in O. cbv zeta in O. set (w := Z.max _ _) in *.
  assert (Wc : ((if zero then 0 else fbits (c_format a)) <= w)%Z) by (unfold w; lia).
  assert (Wf : (fbits (a_format a) + fbits (b_format a) <= w)%Z) by (unfold w; lia). clearbody w. repeat rewrite andb_true_iff in O.
  destruct O as [[[[[[[[[[[[[[[S0 LH] Fa] Fb] N0] Oc] Pz] E1] E2] E3] E4] Fd] E5] Sa] Sb] Re].
  apply Z.leb_le in S0, LH, Fa, Fb, Fd. apply Nat.ltb_lt in N0.
  destruct (format_eq_dec (a_format a) (a_format b)) as [Ea|]; [|easy]. destruct (format_eq_dec (b_format a) (b_format b)) as [Eb|]; [|easy].
  destruct (format_eq_dec (c_format a) (c_format b)) as [Ec|]; [|easy]. destruct (format_eq_dec (d_format a) (d_format b)) as [Ed|]; [|easy].
  destruct (final a) as [l|] eqn:Fl; [|easy]. destruct (final b) as [e|] eqn:Fe; [|easy].
  set (E' := Z.max lo (Z.min E hi)). set (g := (Z.max lo (E' - s) - w)%Z). set (low := (lo - w)%Z) in *. set (high := (Z.max lo (hi - s) - w)%Z) in *.
  set (pb := product_units (a_format a) (b_format a) w s) in *. set (bc := if zero then 0%Z else c_units (c_format a) w s) in *.
  assert (Lg : (low <= g)%Z) by (unfold low, g; lia). assert (Hg : (g <= high)%Z) by (unfold high, g, E'; lia).
  assert (CL : forall x, within lo hi s E x -> close g w s x).
  { intros x H Z0. specialize (H Z0). unfold g, E'. lia. }
  assert (PC : Forall (pair_close (a_format a) (b_format a) g w s) ps).
  { eapply Forall_impl; [|exact Fp]. intros p [x [y [D1 [D2 H]]]]. exists x, y. auto. }
  destruct Cw as [x [Dc Wx]].
  (* c *)
  assert (C : forall f, (s + w <= f)%Z -> exists t, near g f t /\ here t = decode (c_format a) c /\ bound t = bc /\ real t = V x).
  { intros f Hf. destruct (decode_num _ _ _ Oc Dc) as [Sx [Fx _]]. unfold bc. destruct zero eqn:Zr.
    - specialize (Zc eq_refl). cbn in Pz. unfold plus_zero_of in Pz. rewrite <- Zc, Dc in Pz. apply andb_prop in Pz. destruct Pz as [Pz _].
      exists {| bound := 0; real := V x; here := Num x |}. cbn. split; [|auto]. exists x. cbn. rewrite (V_zero x Pz), Rabs_R0. repeat split; auto; try lra.
      + rewrite V_zero by auto. exists 0%Z. ring. + congruence.
    - exists {| bound := (2 ^ (fbits (c_format a) + 1) - 1) * 2 ^ (s + w - frac x); real := V x; here := Num x |}. rewrite Dc. cbn [here bound real]. split; [|rewrite Fx; auto].
      apply num_near; auto using form_refl. rewrite Fx. exact Wc. }
  assert (P : zero = true -> no_minus_zero (decode (c_format a) c)).
  { intros Zr. specialize (Zc Zr). rewrite Zr in Pz. cbn in Pz. unfold plus_zero_of in Pz. rewrite Zc. destruct (decode (c_format a) 0); try easy.
    apply andb_prop in Pz. destruct Pz as [_ Pz]. apply negb_true_iff in Pz. intros y Hy _. congruence. }
  set (pv := pair_value (a_format a) (b_format a)).
  assert (R : forall os, length os = n -> Forall (pair_close (a_format a) (b_format a) g w s) os ->
    forall d k f m z, side low f high m pb bc k n zero d = true -> final d = Some z -> a_format d = a_format a -> b_format d = b_format a -> c_format d = c_format a ->
    d_format d = d_format a -> (s + w <= f)%Z -> (c_format d = d_format d \/ n = k) ->
    exists i v, calls d k os c = encode (d_format a) i v /\ ends (out z) (V x + Rsum (map pv os)) v).
  { intros os Lo Po d k f m z Sd Fz Da Db Dcf Dd Sf Cd. destruct (C f Sf) as [t [Nt [Ht [Bt Rt]]]].
    assert (Sp : (0 < k)%nat /\ (n mod k = 0)%nat /\ (composed d = None -> zsign (out z) = Positive \/ no_minus_zero (here t))).
    { unfold side in Sd. rewrite Fz in Sd. destruct (last_sum (sums d)) as [l'|] eqn:L; [|now rewrite andb_false_r in Sd].
      repeat rewrite andb_true_iff in Sd. destruct Sd as [[[_ K0] M0] [_ Co]]. apply Nat.ltb_lt in K0. apply Nat.eqb_eq in M0. split; auto. split; auto.
      intros Cn. rewrite Cn in Co. unfold final in Fz. rewrite L, Cn in Fz. injection Fz as <-. apply orb_prop in Co. destruct Co as [Co|Co]; [right; rewrite Ht; now apply P|left; now destruct (zsign (out l'))]. }
    destruct Sp as [K0 [M0 Pc]].
    assert (Cc : concat (cut_list (length os) k os) = os) by (apply concat_cut; auto).
    assert (Lc : forall j (q : list (Z * Z)), (length q <= j)%nat -> (length q mod k = 0)%nat -> Forall (fun b => length b = k) (cut_list j k q)).
    { clear -K0. induction j as [|j IH]; intros q L M; [constructor|]. destruct q as [|y q]; [constructor|]. set (q' := y :: q) in *.
      change (cut_list (S j) k q') with (firstn k q' :: cut_list j k (skipn k q')).
      assert (Kq : (k <= length q')%nat).
      { destruct (le_lt_dec k (length q')); auto. rewrite Nat.mod_small in M by lia. unfold q' in M. cbn in M. lia. }
      constructor; [rewrite firstn_length; lia|]. apply IH; rewrite skipn_length; [unfold q' in *; cbn [length] in *; lia|].
      rewrite <- (Nat.mod_add (length q' - k) 1 k) by lia. replace (length q' - k + 1 * k)%nat with (length q') by lia. exact M. }
    specialize (Lc (length os) os (le_n _)). rewrite Lo in Lc. specialize (Lc M0).
    set (bs := cut_list (length os) k os) in *. rewrite <- Lo in Lc. fold bs in Lc.
    assert (Lb : (length bs * k = n)%nat).
    { rewrite <- Lo, <- Cc. clear -Lc. induction Lc as [|y r Hy _ IH]; [reflexivity|]. cbn [length concat]. rewrite app_length, <- IH. lia. }
    destruct (calls_end g f low high m pb w s d k n zero bc Lg Hg S0 ltac:(rewrite Da, Db; lia) Sf ltac:(unfold pb; now rewrite Da, Db) Sd z Fz Cd bs c t) as [i [v [I1 I2]]]; auto.
    - intros Q. rewrite Q in Lb. cbn in Lb. lia.
    - rewrite Da, Db. apply Forall_forall. intros y Hy. apply Forall_forall. intros q Hq. rewrite Forall_forall in Po. apply Po. rewrite <- Cc. apply in_concat. eauto.
    - now rewrite Dcf.
    - rewrite Bt, Lb. lia.
    - lia.
    - exists i, v. rewrite Da, Db, Rt, Cc in I2. rewrite Dd in I1. split; auto. }
  assert (Cf : forall k, (n =? k)%nat = true -> n = k) by (intros; now apply Nat.eqb_eq).
  destruct (R ps Ln PC a ka fa ma l Sa Fl eq_refl eq_refl eq_refl eq_refl Fa) as [i [v [I1 I2]]].
  { destruct (format_eq_dec (c_format a) (d_format a)); [now left|right]. cbn in E5. apply andb_prop in E5. now apply Cf. }
  destruct (R qs ltac:(now rewrite <- (Permutation_length Pq)) ltac:(eapply Permutation_Forall; eauto) b kb fb mb e Sb Fe (eq_sym Ea) (eq_sym Eb) (eq_sym Ec) (eq_sym Ed) Fb) as [j [u [J1 J2]]].
  { destruct (format_eq_dec (c_format a) (d_format a)) as [Q|]; [left; congruence|right]. cbn in E5. apply andb_prop in E5. now apply Cf. }
  rewrite <- (Rsum_perm _ _ (Permutation_map pv Pq)) in J2.
  assert (Gp : on_grid g (Rsum (map pv ps)) /\ Rabs (Rsum (map pv ps)) <= IZR (Z.of_nat n * pb) * bp g).
  { destruct (elements_near g fa low high ma pb w s a ka n zero bc S0 ltac:(lia) Fa eq_refl Sa ps c PC) as [Fx Vx].
    destruct (element_items g fa a pb _ Fx) as [Gi Bi]. rewrite Vx in Gi, Bi. rewrite elements_length in Bi.
    change (length (pairs (call ps c))) with (length ps) in Bi. rewrite Ln in Bi. auto. }
  destruct Gp as [Gp Bp]. rewrite I1, J1. destruct (C fa Fa) as [t [Nt [Ht [Bt Rt]]]].
  apply (ends_word g low high (bc + Z.of_nat n * pb) (V x + Rsum (map pv ps)) (out l) (out e)); auto.
  - destruct Nt as [z [_ [Vz [[[i1 H1] _] _]]]]. destruct Gp as [i2 H2]. exists (i1 + i2)%Z. rewrite <- Rt, <- Vz, plus_IZR, H1, H2. ring.
  - destruct Nt as [z [_ [_ [_ Bz]]]]. rewrite Bt, Rt in Bz. rewrite plus_IZR. eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.

(** Two designs give the same word of all such operands, in the same order. *)
Theorem agreement_within_spread a b ka kb n zero lo hi s fa ma fb mb E ps c :
  region_ok a b ka kb n zero lo hi s fa ma fb mb = true -> length ps = n ->
  Forall (pair_within (a_format a) (b_format a) lo hi s E) ps ->
  c_within (c_format a) lo hi s E c -> (zero = true -> c = 0%Z) ->
  calls a ka ps c = calls b kb ps c.
Proof. intros. eapply agreement_in_any_order; eauto. Qed.

(** Within such a spread no order of a design's products changes the result, whichever of its sums they are in. *)
Theorem order_within_spread d k n zero lo hi s f m E ps qs c :
  region_ok d d k k n zero lo hi s f m f m = true -> length ps = n -> Permutation ps qs ->
  Forall (pair_within (a_format d) (b_format d) lo hi s E) ps ->
  c_within (c_format d) lo hi s E c -> (zero = true -> c = 0%Z) ->
  calls d k ps c = calls d k qs c.
Proof. apply agreement_in_any_order. Qed.

(** * Designs that differ in the words of NaNs alone *)

Definition with_nans (d : design) (r : nan_rule) (n : Z) : design :=
  {| a_format := a_format d; b_format := b_format d; c_format := c_format d; d_format := d_format d; scales := scales d;
     converted := converted d; factors := factors d; cutting_of := cutting_of d; block := block d; odd_first := odd_first d;
     skips := skips d; c_rule := c_rule d; sums := sums d; nan_word := n; nans := r; composed := composed d |}.

(** No finite operands give a NaN: an infinite partial sum meets finite products alone. *)
Definition never_nan (d : design) (k : nat) : bool :=
  plain_factors d && whole_design d && match composed d with None => true | Some _ => false end &&
  match sums d with
  | OneSum (Stage _) => true
  | CLast Together (Stage _) (Stage _) => (k <=? block d)%nat
  | _ => false
  end.

Lemma finite_term d e : plain_factors d = true -> scaled_by e = [] -> finite_pair (a_format d) (b_format d) (a_word e, b_word e) = true ->
  is_num (term d e) = true.
Proof.
  intros P Sc F. unfold finite_pair in F. cbn [fst snd] in F. apply andb_prop in F. destruct F as [F1 F2].
  destruct (decode (a_format d) (a_word e)) as [x| |] eqn:Dx; try easy. destruct (decode (b_format d) (b_word e)) as [y| |] eqn:Dy; try easy.
  assert (K : of_a (factors d) = Kept /\ of_b (factors d) = Kept /\ zero_terms (factors d) = None /\ (forall k, subtracted (factors d) k = false) /\
    product_limit (factors d) = None /\ product_rounding (factors d) = None).
  { unfold plain_factors in P. repeat rewrite andb_true_iff in P. destruct P as [[[[_ Od] Kp] Nn] _].
    destruct (of_a (factors d)), (of_b (factors d)); try easy. destruct (zero_terms (factors d)); try easy.
    destruct (product_limit (factors d)); try easy. destruct (product_rounding (factors d)); try easy. apply negb_true_iff, orb_false_elim in Od. destruct Od as [Od Ev]. repeat split; auto.
    intros k. unfold subtracted. rewrite Od, Ev. now destruct (Z.odd k). }
  destruct K as [Ka [Kb [Zt [Od [Pl Pr]]]]].
  destruct (operand_form d (of_a (factors d)) (a_format d) (a_word e) x P (or_introl eq_refl) Ka Dx) as [x' [Ax _]].
  destruct (operand_form d (of_b (factors d)) (b_format d) (b_word e) y P (or_intror eq_refl) Kb Dy) as [y' [Ay _]].
  unfold term, scaled_product, a_of, b_of. now rewrite Ax, Ay, Zt, zero_as_none, Od, Sc, Pl, Pr.
Qed.

(** Numbers and one value that is no NaN. *)
Lemma sum_not_nan l vs v : forallb is_num vs = true -> is_nan v = false -> is_nan (sum_values l (vs ++ [v])) = false.
Proof.
  intros N V. unfold sum_values, numbers. rewrite forallb_app, N. cbn [forallb andb]. rewrite andb_true_r. destruct v as [x|s|]; [| |easy].
  - cbn [is_num]. unfold sum_numbers. apply convert_not_nan.
  - cbn [is_num]. unfold special_sum.
    assert (Q : forall (q : val -> bool), (forall x, q (Num x) = false) -> existsb q (vs ++ [Inf s]) = q (Inf s)).
    { intros q Hq. rewrite existsb_app. cbn [existsb]. rewrite orb_false_r. replace (existsb q vs) with false; [reflexivity|]. symmetry.
      apply not_true_iff_false. intros E. apply existsb_exists in E. destruct E as [u [Hu Qu]]. rewrite forallb_forall in N. specialize (N u Hu).
      destruct u; try easy. now rewrite Hq in Qu. }
    rewrite !Q by easy. now destruct s.
Qed.

Lemma value_not_nan d k ps c : never_nan d k = true -> length ps = k ->
  forallb (finite_pair (a_format d) (b_format d)) ps = true -> is_num (decode (c_format d) c) = true -> is_nan (value d (call ps c)) = false.
Proof.
  intros O Ln Fp Fc. unfold never_nan in O. repeat rewrite andb_true_iff in O. destruct O as [[[P W] Co] So].
  destruct (composed d) eqn:C; [easy|]. unfold value. rewrite C. change (c_word (call ps c)) with c.
  set (xs := elements d (call ps c)).
  assert (Sc : scales d = None).
  { unfold plain_factors in P. repeat rewrite andb_true_iff in P. destruct P as [[_ P] _].
    destruct (zero_terms (factors d)); try easy. destruct (product_limit (factors d)); try easy. destruct (product_rounding (factors d)); try easy. now destruct (scales d). }
  assert (T : forall e, In e xs -> is_num (term d e) = true).
  { intros e He. destruct (elements_of_call d ps c e Sc He) as [E1 E2]. apply finite_term; auto. rewrite forallb_forall in Fp. now apply Fp. }
  assert (Lx : length xs = k) by (unfold xs; rewrite elements_length; exact Ln). clearbody xs.
  assert (Bn : (0 < block d)%nat) by (unfold whole_design in W; repeat rewrite andb_true_iff in W; destruct W as [_ W]; now apply Nat.ltb_lt).
  assert (Cc : concat (cut_list (length xs) (block d) xs) = xs) by (apply concat_cut; auto).
  change (is_nan (in_turn d (cut_list (length xs) (block d) xs) (decode (c_format d) c)) = false).
  assert (B : forall b, In b (cut_list (length xs) (block d) xs) -> forallb is_num (map (term d) (ordered d b)) = true).
  { intros b Hb. apply forallb_forall. intros v Hv. apply in_map_iff in Hv. destruct Hv as [e [<- He]]. apply T. rewrite <- Cc. apply in_concat.
    exists b. split; auto. unfold ordered in He. destruct (odd_first d); auto. now apply swapped_incl. }
  destruct (sums d) as [[l|]| | | | | | |[| | | |] [s|] [l|]|] eqn:S; try easy.
  - assert (V : is_nan (decode (c_format d) c) = false) by now destruct (decode (c_format d) c). revert B V. generalize (decode (c_format d) c) as v.
    generalize (cut_list (length xs) (block d) xs) as bs. unfold in_turn. induction bs as [|b r IH]; intros v B V; [exact V|]. cbn [fold_left].
    apply IH; [intros b' Hb; apply B; now right|]. rewrite block_value_whole, S by auto. cbn [block_sum add_from add]. apply sum_not_nan; auto. apply B. now left.
  - apply Nat.leb_le in So. destruct xs as [|x r]; [cbn; now destruct (decode (c_format d) c)|]. set (xs := x :: r) in *.
    assert (One : cut_list (length xs) (block d) xs = [xs]).
    { unfold xs at 1 2. cbn [length cut_list]. fold xs. rewrite firstn_all2, skipn_all2 by lia. destruct (length r); reflexivity. }
    rewrite One in *. unfold in_turn. cbn [fold_left]. rewrite block_value_whole, S by auto. cbn [block_sum inner_sum add_from add].
    specialize (B xs (or_introl eq_refl)). destruct (decode (c_format d) c) as [y| |]; try easy.
    assert (I : is_nan (sum_values s (map (term d) (ordered d xs))) = false).
    { unfold sum_values, numbers. rewrite B. unfold sum_numbers. apply convert_not_nan. }
    destruct (sum_values s (map (term d) (ordered d xs))) as [z|t|]; [| |easy].
    + change [Num z; Num y] with ([Num z] ++ [Num y]). now apply sum_not_nan.
    + assert (Q : sum_values l [Inf t; Num y] = Inf t) by (unfold sum_values, numbers, special_sum; cbn; now destruct t). now rewrite Q.
Qed.

(** For all finite operands two such designs give the same word. *)
Theorem agreement_but_for_nans d e k ps c : e = with_nans d (nans e) (nan_word e) -> never_nan d k = true -> length ps = k ->
  forallb (finite_pair (a_format d) (b_format d)) ps = true -> is_num (decode (c_format d) c) = true ->
  compute d (call ps c) = compute e (call ps c).
Proof.
  intros E O Ln Fp Fc. pose proof (value_not_nan d k ps c O Ln Fp Fc) as N.
  assert (V : value e (call ps c) = value d (call ps c)) by (rewrite E; reflexivity).
  assert (F : d_format e = d_format d) by (rewrite E; reflexivity).
  destruct (compute_value d (call ps c)) as [i Hi]. destruct (compute_value e (call ps c)) as [j Hj]. rewrite Hi, Hj, V, F. now apply encode_not_nan.
Qed.
