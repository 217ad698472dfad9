(** The error of one truncated sum in terms of the largest exponent of its terms, from words, for operands of any kind. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core.
From TC Require Import Spec Design Designs Rounding Order Error Carry Negation Chains Integers Monotone Relative Words Values Irrelevant
  Losses Accumulated.
Import ListNotations.
Open Scope R_scope.

(** How many ulps of its result a rounding loses at most. *)
Definition ulps (c : conversion) : R := if nearest (rho c) then / 2 else 1.

Lemma rounding_ulps c x : (0 <= p c)%Z -> Rabs (flt_rnd c x - x) <= ulps c * Rulp c (flt_rnd c x).
Proof.
  intros P. pose proof (flt_valid c P) as FV. unfold ulps. destruct (nearest (rho c)) eqn:N.
  - assert (Prec_gt_0 (p c + 1)) by (unfold Prec_gt_0; lia). unfold flt_rnd, Rulp.
    destruct (rho c); try discriminate; simpl rnd; apply error_le_half_ulp_round; auto; unfold flt; auto with typeclass_instances.
  - pose proof (flt_err c x P). lra.
Qed.

(** Of n terms at most n lose less than a unit of 2^(E - F) each, and n - 1 where none has more than F fraction bits. *)
Theorem exponent_error s ts z f E n :
  plain (out s) = true -> carry_bits s = None -> normalise s = false -> fraction_bits s = Some f -> (0 <= n)%Z ->
  (Z.of_nat (length ts) <= n \/ Z.of_nat (length ts) <= n + 1 /\ Forall (fun x => (frac x <= f)%Z) ts)%Z ->
  ole (largest s ts) (Some E) -> sum_numbers s ts = Num z ->
  Rabs (V z - exact_sum ts) <= IZR n * bp (E - f) + ulps (out s) * Rulp (out s) (V z).
Proof.
  intros P K Nn F N0 Fr L H. pose proof (plain_p _ P) as Pp.
  assert (T : exact_total s ts) by (apply no_carry_exact; exact K).
  unfold sum_numbers in H. rewrite T in H. pose proof (convert_num _ _ _ _ _ P H) as C. clear H. rewrite counts_ok in C.
  pose proof (cut_sum_err (alignment s) (unit_of s ts) ts) as Er. set (S := Rsum _) in *.
  assert (Lo : IZR (lossy (unit_of s ts) ts) * bp (unit_of s ts) <= IZR n * bp (E - f)).
  { unfold unit_of. rewrite F. destruct (largest s ts) as [e|] eqn:Q.
    - cbn in L. assert (Q1 : (lossy (e - f) ts <= n)%Z).
      { assert (Ll : (lossy (e - f) ts <= live ts <= Z.of_nat (length ts))%Z).
        { unfold lossy, live. clear. split; apply inj_le; induction ts as [|a ts IH]; cbn; try lia; destruct (is_zero a); cbn; try lia.
          destruct (lsb a <? e - f)%Z; cbn; lia. }
        destruct Fr as [Fr|[Ln Fr]]; [lia|]. destruct (largest_attained s ts e Q) as [y [Hy Ey]]. unfold term_exponent in Ey.
        destruct (is_zero y) eqn:Zy.
        - assert (Lv : (live ts <= Z.of_nat (length ts) - 1)%Z).
          { apply in_split in Hy. destruct Hy as [a [b ->]]. unfold live. rewrite filter_app, !app_length. cbn [filter length]. rewrite Zy. cbn [negb].
            assert (G : forall l, (length (filter (fun x => negb (is_zero x)) l) <= length l)%nat) by (intros l; induction l; cbn; [lia|]; destruct (is_zero a0); cbn; lia).
            pose proof (G a). pose proof (G b). lia. }
          lia.
        - rewrite Nn in Ey. injection Ey as Ey. rewrite Forall_forall in Fr. specialize (Fr y Hy).
          assert ((lossy (e - f) ts <= live ts - 1)%Z); [|lia]. apply lossy_live with y; auto. unfold lsb. lia. }
      pose proof (lossy_le (e - f) ts) as [B0 _]. apply IZR_le in Q1, B0.
      apply Rmult_le_compat; auto using bpow_ge_0. apply bpow_le. lia.
    - assert (A : forall l, (forall x, In x l -> is_zero x = true) -> lossy 0 l = 0%Z).
      { unfold lossy. induction l as [|a l IH]; simpl; intros Hl; auto. rewrite Hl by auto. simpl. apply IH. auto. }
      rewrite A by (intros x; now apply (largest_none s)). rewrite Rmult_0_l. apply Rmult_le_pos; [apply IZR_le; lia|apply bpow_ge_0]. }
  replace (V z - exact_sum ts) with ((V z - S) + (S - exact_sum ts)) by ring. eapply Rle_trans; [apply Rabs_triang|].
  pose proof (rounding_ulps (out s) S Pp) as R. rewrite <- C in R. lra.
Qed.

(** The side condition of a design. *)
Definition exponents_ok (d : design) (f : Z) : bool :=
  match sum_of d, term_facts d with
  | Some s, Some t => plain (out s) && match carry_bits s with None => true | _ => false end && negb (normalise s) &&
      match fraction_bits s with Some g => (g =? f)%Z | None => false end && format_ok (c_format d) &&
      match c_rule d with Kept => true | _ => false end && negb (odd_first d) && (0 <? block d)%nat &&
      match zero_exponent s with ZeroNone => true | ZeroAt e => (e <=? emin (out s))%Z | ZeroOwn => false end
  | _, _ => false
  end.

(** How many of n products and c may lose bits: one that is the largest does not where none has more than F fraction bits. *)
Definition losing (d : design) (f : Z) (n : nat) : Z :=
  Z.of_nat n + match term_facts d with Some t => if (bits t <=? f)%Z && (fbits (c_format d) <=? f)%Z then 0 else 1 | None => 1 end.

(** For all words of one block of n products, subnormal operands among them, and every E that is at least the exponent of every term
    that is not zero, and that of the least normal result: |d - exact| <= n 2^(E - F), or (n + 1) 2^(E - F) where terms have more
    than F fraction bits, and an ulp of d, or half of it. *)
Theorem error_in_exponents d s f w z x E :
  sum_of d = Some s -> exponents_ok d f = true -> composed d = None -> length (blocks_of_word d w) = 1%nat ->
  decode (c_format d) (c_word w) = Num x -> value d w = Num z -> (emin (out s) <= E)%Z ->
  (is_zero x = false -> (exp x <= E)%Z) ->
  (forall e y, In e (elements d w) -> term d e = Num y -> is_zero y = false -> (exp y <= E)%Z) ->
  Rabs (V z - (V x + Rsum (map (term_value d) (elements d w)))) <=
    IZR (losing d f (length (elements d w))) * bp (E - f) + ulps (out s) * Rulp (out s) (V z).
Proof.
  intros S O Co One Dc Vz Em Ec Et. unfold exponents_ok in O. rewrite S in O. destruct (term_facts d) as [t|] eqn:T; [|easy].
  repeat rewrite andb_true_iff in O. destruct O as [[[[[[[[P K] Nn] F] Of] Ck] Od] Bn] Ze].
  apply negb_true_iff in Nn, Od. apply Nat.ltb_lt in Bn. destruct (carry_bits s) eqn:Cb; [easy|].
  destruct (fraction_bits s) as [g|] eqn:Fb; [|easy]. apply Z.eqb_eq in F. subst g. destruct (c_rule d) eqn:Cr; try easy.
  assert (Cc : concat (blocks_of_word d w) = elements d w) by (apply concat_cut; auto).
  unfold value in Vz. rewrite Co, Dc in Vz. change (in_turn d (blocks_of_word d w) (Num x) = Num z) in Vz.
  destruct (blocks_of_word d w) as [|b [|? ?]] eqn:Eb; try easy. cbn in Cc. rewrite app_nil_r in Cc. cbn in Vz.
  destruct (block_taken d s b x z S Cr Od (term_facts_zero d t T) Vz) as [us [Eu [Lu [In1 Sz]]]].
  pose proof (elements_made d w) as Mm. rewrite <- Cc in *.
  pose proof (block_products_has d t b T Mm) as Hp. unfold block_products, ordered in Hp. rewrite Od in Hp.
  change (Forall (has_val t) (map (term d) b)) in Hp. rewrite Eu in Hp. apply has_numbers in Hp.
  assert (Tu : forall y, In y us -> is_zero y = false -> (exp y <= E)%Z) by (intros y Hy Zy; destruct (In1 y Hy) as [e [He Ee]]; eapply Et; eauto).
  destruct (decode_num _ _ _ Of Dc) as [_ [Fx _]].
  assert (L0 : (0 <= losing d f (length b))%Z) by (unfold losing; destruct (term_facts d); [destruct ((_ <=? f)%Z && _)|]; lia).
  pose proof (exponent_error s (us ++ [x]) z f E (losing d f (length b)) P Cb Nn Fb L0) as G.
  assert (Ln : length (us ++ [x]) = (length b + 1)%nat) by (rewrite app_length; cbn; lia).
  assert (G1 : (Z.of_nat (length (us ++ [x])) <= losing d f (length b) \/
    Z.of_nat (length (us ++ [x])) <= losing d f (length b) + 1 /\ Forall (fun y => (frac y <= f)%Z) (us ++ [x]))%Z).
  { rewrite Ln. unfold losing. rewrite T. destruct ((bits t <=? f)%Z && (fbits (c_format d) <=? f)%Z) eqn:Q; [right|left; lia].
    apply andb_true_iff in Q. destruct Q as [B Fc]. apply Z.leb_le in B, Fc. split; [lia|].
    apply Forall_app. split; [|constructor; auto; lia]. eapply Forall_impl; [|exact Hp]. intros y [_ [Hy _]]. lia. }
  assert (G2 : ole (largest s (us ++ [x])) (Some E)).
  { apply largest_le. intros y Hy. unfold term_exponent. destruct (is_zero y) eqn:Zy.
    - destruct (zero_exponent s); try easy. apply Z.leb_le in Ze. cbn. lia.
    - rewrite Nn. cbn. apply in_app_or in Hy. destruct Hy as [Hy|[<-|[]]]; auto. }
  specialize (G G1 G2 Sz). now rewrite (proj1 (terms_sums d b us x Eu)) in G.
Qed.
